package pgstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/store/enginetest"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/tables"
)

// TestConcurrentStandings makes many calls of Standing at once, so that they share queries. Each call gets its own
// answer.
func TestConcurrentStandings(t *testing.T) {
	t.Parallel()
	s := storeWithRoom(t)
	muted := tables.Millis(time.Now().Add(time.Hour).UnixMilli())
	kinds := []struct {
		user, row string
		want      chat.Standing
	}{
		{"in", `'in', false, 'admin', 0`, chat.Standing{Ever: true, In: true, Role: chat.Admin}},
		{"muted", fmt.Sprintf(`'in', false, 'member', %d`, muted.UnixMilli()), chat.Standing{Ever: true, In: true, Role: chat.Plain, MutedUntil: muted}},
		{"left", `'left', false, 'owner', 0`, chat.Standing{Ever: true, Left: true}},
		{"banned", `'kicked', true, 'member', 0`, chat.Standing{Ever: true, Banned: true}},
		{"gone", `'gone', false, 'member', 0`, chat.Standing{Ever: true, RoomDeleted: true}},
	}
	for _, k := range kinds {
		must(t, s.tx(t.Context(), func(w *writer) error {
			_, err := w.Exec(`insert into members (room_id, user_id, state, banned, role, muted_until, joined_at) values ($1, $2, `+k.row+`, 0)`, room, k.user)
			return err
		}))
	}
	visible, err := s.Standing(t.Context(), room, "stranger")
	must(t, err)
	if !visible.Visible || visible.Ever {
		t.Fatalf("standing of a non-member in a public room: %+v", visible)
	}
	var everyone sync.WaitGroup
	for i := range 300 {
		everyone.Go(func() {
			at, user, want := room, "stranger", visible
			switch k := i % (len(kinds) + 2); {
			case k < len(kinds):
				user, want = kinds[k].user, kinds[k].want
			case k == len(kinds):
				at, want = "no-such-room", chat.Standing{}
			}
			if got, err := s.Standing(t.Context(), at, user); err != nil || got != want {
				t.Errorf("%s in %s: %+v, %v, want %+v", user, at, got, err, want)
			}
		})
	}
	everyone.Wait()
}

// TestStandingFailsInTime takes all connections, so that no job in the queue can be answered. Calls with a deadline must fail before
// patience ends, and the other one when it ends.
func TestStandingFailsInTime(t *testing.T) {
	enginetest.Nightly(t, "waits")
	t.Parallel()
	s := openStore(t, migratedDatabase(t)+"&pool_max_conns=3")
	createTestRoom(t, s)
	busy, free := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer free()
	var taken sync.WaitGroup
	for range 3 {
		taken.Add(1)
		all.Go(func() {
			pooled, err := s.pool.Acquire(t.Context())
			taken.Done()
			if err != nil {
				t.Error(err)
				return
			}
			defer pooled.Release()
			<-busy.Done()
		})
	}
	taken.Wait()
	for range 2 {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
			defer cancel()
			began := time.Now()
			_, err := s.Standing(ctx, room, "x")
			if took := time.Since(began); !errors.Is(err, chat.ErrUnavailable) || took >= pg.Patience {
				t.Errorf("%v after %v", err, took)
			}
		})
	}
	began := time.Now()
	_, err := s.Standing(t.Context(), room, "y")
	if took := time.Since(began); !errors.Is(err, chat.ErrUnavailable) || took > inTime {
		t.Errorf("%v after %v", err, took)
	}
}
