package security

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"
)

// memory is a Store that may fail.
type memory struct {
	Store

	mu      sync.Mutex // guards the following
	fails   error
	acts    []Act
	counts  []Count
	dropped time.Time

	droppedActs time.Time
}

func (m *memory) AddAct(_ context.Context, a Act) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fails == nil {
		m.acts = append(m.acts, a)
	}
	return m.fails
}

func (m *memory) AddCounts(_ context.Context, counts []Count) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fails == nil {
		m.counts = append(m.counts, counts...)
	}
	return m.fails
}

func (m *memory) DropCounts(_ context.Context, before time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dropped = before
	return nil
}

func (m *memory) DropActs(_ context.Context, before time.Time, _ int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.droppedActs = before
	return nil
}

// stored returns the stored counts by "kind origin".
func (m *memory) stored() map[string]int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	sums := map[string]int64{}
	for _, c := range m.counts {
		sums[c.Kind+" "+c.Origin] += c.N
	}
	return sums
}

// fail makes the calls fail with an error; with nil they succeed.
func (m *memory) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fails = err
}

// all returns the stored counts.
func (m *memory) all() []Count {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.counts)
}

// inBubble runs a test with a recorder whose Run has started, on a fake clock that starts at a full minute.
func inBubble(t *testing.T, run func(m *memory, r *Recorder, stop func())) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		r := NewRecorder(m, "i", 100, time.Now, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			r.Run(ctx)
			close(ended)
		}()
		stop := func() {
			cancel()
			<-ended
		}
		defer stop()
		run(m, r, stop)
	})
}

func TestCountsAreStoredByMinute(t *testing.T) {
	inBubble(t, func(m *memory, r *Recorder, stop func()) {
		began := time.Now()
		r.Count("unauthorized", "192.0.2.7")
		time.Sleep(59 * time.Second)
		r.Count("unauthorized", "192.0.2.7")
		time.Sleep(2 * time.Second) // into the next minute
		r.Count("unauthorized", "192.0.2.7")
		r.Count("not_admin", "192.0.2.7")
		synctest.Wait()
		if len(m.all()) != 1 || m.all()[0] != (Count{Minute: began, Instance: "i", Kind: "unauthorized", Origin: "192.0.2.7", N: 2}) {
			t.Errorf("after a minute %v are stored, want the two of the first minute", m.all())
		}
		if want := time.Now().Add(-retention).Truncate(time.Minute); !m.dropped.Truncate(time.Minute).Equal(want) {
			t.Errorf("counts before %v were deleted, want before %v", m.dropped, want)
		}
		if want := time.Now().AddDate(0, 0, -100).Truncate(time.Minute); !m.droppedActs.Truncate(time.Minute).Equal(want) {
			t.Errorf("acts before %v were deleted, want before %v", m.droppedActs, want)
		}
		stop()
		if got := m.stored(); got["unauthorized 192.0.2.7"] != 3 || got["not_admin 192.0.2.7"] != 1 || len(m.all()) != 3 {
			t.Errorf("after the stop %v are stored, want those of the last minute, too", m.all())
		}
		if totals, _ := r.Totals(); totals["unauthorized"] != 3 || totals["not_admin"] != 1 {
			t.Errorf("totals %v, want 3 and 1", totals)
		}
	})
}

// TestStrangersCannotFillTheDatabase counts events of many addresses. The number of rows must stay below the bound, and no event
// may be left out.
func TestStrangersCannotFillTheDatabase(t *testing.T) {
	inBubble(t, func(m *memory, r *Recorder, stop func()) {
		for i := range 100_000 {
			r.Count("unauthorized", fmt.Sprint("address ", i))
		}
		stop()
		sum := int64(0)
		for _, c := range m.all() {
			sum += c.N
		}
		if len(m.all()) != maxNames+1 || sum != 100_000 || m.stored()["unauthorized others"] != 100_000-maxNames {
			t.Errorf("%d rows with a sum of %d, want %d and 100000", len(m.all()), sum, maxNames+1)
		}
	})
}

// TestCountsOutliveAnOutage counts while the database fails. Counts must be stored after the outage, up to a bound.
func TestCountsOutliveAnOutage(t *testing.T) {
	inBubble(t, func(m *memory, r *Recorder, stop func()) {
		m.fail(errors.New("outage"))
		r.Count("unauthorized", "a")
		time.Sleep(90 * time.Second)
		synctest.Wait()
		r.Count("unauthorized", "a")
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(m.all()) != 0 {
			t.Errorf("stored during the outage: %v", m.all())
		}
		m.fail(nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(m.all()) != 2 || m.all()[0].Minute.Equal(m.all()[1].Minute) {
			t.Errorf("stored after the outage: %v, want the counts of two minutes", m.all())
		}
		m.fail(errors.New("outage"))
		for range maxWaiting / maxNames {
			for i := range maxNames + 5 {
				r.Count("unauthorized", fmt.Sprint(i))
			}
			time.Sleep(time.Minute)
			synctest.Wait()
		}
		if n := len(r.waiting); n > maxWaiting {
			t.Errorf("%d counts wait, want at most %d", n, maxWaiting)
		}
		m.fail(nil)
		stop()
	})
}

func TestActThatIsNotStoredFails(t *testing.T) {
	m := &memory{}
	r := NewRecorder(m, "i", 0, time.Now, slog.New(slog.DiscardHandler))
	if err := r.Act(t.Context(), "root", "192.0.2.7", "credit", []byte("{\"user\":\"\xff\x00"+strings.Repeat("名", 1000))); err != nil {
		t.Fatal(err)
	}
	a := m.acts[0]
	if a.ID == "" || a.Actor != "root" || a.Client != "192.0.2.7" || a.Method != "credit" || a.Instance != "i" || a.At.IsZero() ||
		!utf8.ValidString(a.Request) || strings.Contains(a.Request, "\x00") || len(a.Request) > maxRequest+2*utf8.UTFMax {
		t.Errorf("stored %+v, want the act with a valid, short request", a)
	}
	m.fail(errors.New("outage"))
	if err := r.Act(t.Context(), "root", "192.0.2.7", "credit", nil); !errors.Is(err, m.fails) {
		t.Errorf("an act that is not stored: %v, want the store's error", err)
	}
	if _, acts := r.Totals(); acts != 1 {
		t.Errorf("%d acts counted, want 1", acts)
	}
}
