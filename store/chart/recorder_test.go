package chart

import (
	"context"
	"errors"
	"log/slog"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/redpacket/meter"
)

// memory is a Store that fails at one step.
type memory struct {
	Store

	fails time.Time
	rows  map[time.Time]Figures
}

func (m *memory) AddFigures(_ context.Context, instance string, at time.Time, f Figures, before time.Time) error {
	if instance != "one" || !before.Equal(at.Add(-Keep)) {
		return errors.New("another instance, or another time")
	}
	if at.Equal(m.fails) {
		return errors.New("outage")
	}
	m.rows[at] = f
	return nil
}

// TestStepsHaveWhatHappenedInThem counts all the time, during an outage, too. Each stored step has what was counted in it.
func TestStepsHaveWhatHappenedInThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now().Truncate(Step)
		m := &memory{rows: map[time.Time]Figures{}, fails: start.Add(Step)}
		took := meter.NewDurations()
		var mu sync.Mutex // guards reading
		var reading Reading
		r := NewRecorder(m, "one", func() Reading {
			mu.Lock()
			defer mu.Unlock()
			now := reading
			now.Took = took.Read()
			return now
		}, time.Now, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		<-time.After(start.Add(Step - time.Minute).Sub(time.Now())) // it starts a minute before the end of a step
		running.Go(func() { r.Run(ctx) })
		synctest.Wait()
		count := func(won int64, each time.Duration) {
			mu.Lock()
			defer mu.Unlock()
			reading.Won += won
			reading.Missed += 2 * won
			reading.Sockets, reading.Open, reading.Escrow = won, Unknown, Unknown
			for range won {
				took.Observe(int64(each))
			}
		}
		count(3, time.Millisecond)
		<-time.After(2 * time.Minute)
		count(100, time.Second) // in the step that is not stored
		<-time.After(Step)
		count(7, 20*time.Millisecond)
		<-time.After(Step)
		count(1, time.Minute)
		<-time.After(Step)
		cancel()
		running.Wait()
		want := map[time.Time]Figures{
			start:               {Counts: Counts{Won: 3, Missed: 6}, Sockets: 3, P99: time.Millisecond, Open: Unknown, Escrow: Unknown},
			start.Add(2 * Step): {Counts: Counts{Won: 7, Missed: 14}, Sockets: 7, P99: 25 * time.Millisecond, Open: Unknown, Escrow: Unknown},
			start.Add(3 * Step): {Counts: Counts{Won: 1, Missed: 2}, Sockets: 1, P99: 10 * time.Second, Open: Unknown, Escrow: Unknown},
		}
		if !reflect.DeepEqual(m.rows, want) {
			t.Errorf("stored %+v, want %+v", m.rows, want)
		}
	})
}
