package restored

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/web/client"
	"hongbao/web/client/model"
	"hongbao/web/wire"
)

// journal is what a user of our own SDK knows of one room, by seq. It is kept as the SDK's documentation says: after a
// Skipped event the entries are read from history.
type journal struct {
	t      *testing.T
	client *client.Client
	room   string
	ended  sync.WaitGroup

	mu      sync.Mutex
	entries []string // id by seq - 1
	wrong   []error
	loads   int // how often the whole room was read from history
}

// follow connects a guest with our own SDK. The guest must be a member of the room soon.
func follow(t *testing.T, s *e2e.Server, guest wire.GuestReply, room string) *journal {
	t.Helper()
	c, err := client.New(s.SocketURL(false), client.Options{Token: guest.Token})
	e2e.NoError(t, err)
	j := &journal{t: t, client: c, room: room}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	_, err = c.Ready(ctx)
	e2e.NoError(t, err)
	_, err = c.Join(ctx, room)
	e2e.NoError(t, err)
	j.ended.Go(j.run)
	t.Cleanup(func() {
		_ = c.Close()
		j.ended.Wait()
	})
	return j
}

func (j *journal) run() {
	for event, err := range j.client.Events(context.Background()) {
		if err != nil {
			return // closed
		}
		switch e := event.(type) {
		case model.Entry:
			j.add(e)
		case model.Skipped:
			j.load(e)
		}
	}
}

func (j *journal) add(e model.Entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if want := int64(len(j.entries) + 1); e.Seq != want {
		j.wrong = append(j.wrong, fmt.Errorf("entry %d came, want %d", e.Seq, want))
		return
	}
	j.entries = append(j.entries, e.ID)
}

// load reads the skipped entries from history. If the room was renumbered, these are all.
func (j *journal) load(s model.Skipped) {
	var read []string
	for e, err := range j.client.History(context.Background(), j.room, s.After) {
		if err != nil || e.Seq > s.Through {
			break
		}
		read = append(read, e.ID)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if s.After == 0 {
		j.loads++
	}
	j.entries = append(j.entries[:s.After], read...)
}

// mustBe waits until the journal has exactly the room's history.
func (j *journal) mustBe(history []wire.Entry) {
	j.t.Helper()
	want := make([]string, len(history))
	for i, e := range history {
		want[i] = e.ID
	}
	e2e.Eventually(j.t, 20*time.Second, "our own SDK has exactly what the database has", func() bool {
		j.mu.Lock()
		defer j.mu.Unlock()
		return slices.Equal(j.entries, want)
	})
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, err := range j.wrong {
		j.t.Error("our own SDK:", err)
	}
}
