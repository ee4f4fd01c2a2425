package pgstore

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/store/pgstore/internal/pg"
)

// TestLargeRoomIsDeletedInSteps deletes a room whose members are removed in several steps. Only the owner may do so.
func TestLargeRoomIsDeletedInSteps(t *testing.T) {
	t.Parallel()
	s := storeWithRoom(t)
	const size = 3*emptyStep + emptyStep/2
	must(t, s.tx(t.Context(), func(w *writer) error {
		if _, err := w.Exec(`insert into members (room_id, user_id, state, banned, joined_at)
			select $1, 'user-' || n, case n % 10 when 0 then 'left' when 1 then 'kicked' else 'in' end, n % 10 = 1, n
			from generate_series(1, $2::int) n`, room, size); err != nil {
			return err
		}
		_, err := w.Exec(`update rooms set members = (select count(*) from members where state = 'in')`)
		return err
	}))
	wants := chat.Change{Kind: chat.DeleteRoom, Room: room, By: chat.User{ID: "user-2"}, At: time.Now()}
	if _, err := s.Change(t.Context(), wants); !errors.Is(err, chat.ErrForbidden) {
		t.Errorf("deletion by a member: %v", err)
	}
	wantMembersCounted(t, s)
	wants.By.ID = "owner"
	made, err := s.Change(t.Context(), wants)
	if err != nil || !made.Changed || !made.Room.Deleted || made.Room.Members != 0 || made.Role != chat.NoRole {
		t.Errorf("deletion by the owner: %+v, %v", made, err)
	}
	var gone int
	must(t, s.withReader(t.Context(), func(r reader) error {
		_, err := r.Row(`select count(*) from members where state = 'gone' and role = 'member'`, nil, &gone)
		return err
	}))
	if gone != size+1 {
		t.Errorf("%d members are gone, want %d", gone, size+1)
	}
	wantMembersCounted(t, s)
}

// TestPartlyEmptiedRoomStillWorks interrupts a deletion after its first step. The room works as before, and the deletion
// can be repeated.
func TestPartlyEmptiedRoomStillWorks(t *testing.T) {
	t.Parallel()
	s := storeWithRoom(t)
	muted := time.Now().Add(time.Hour).UTC().Truncate(time.Millisecond)
	must(t, s.tx(t.Context(), func(w *writer) error {
		if _, err := w.Exec(`insert into users (id) values ('user-1'), ('user-10')`); err != nil {
			return err
		}
		_, err := w.Exec(`insert into members (room_id, user_id, state, banned, muted_until, joined_at)
			select $1, 'user-' || n, case n when 1 then 'kicked' else 'in' end, n = 1, case n when 10 then $3::bigint else 0 end, n
			from generate_series(1, $2::int) n`, room, 2*emptyStep, muted.UnixMilli())
		if err == nil {
			_, err = w.Exec(`update rooms set members = (select count(*) from members where state = 'in')`)
		}
		return err
	}))
	wants := chat.Change{Kind: chat.DeleteRoom, Room: room, By: chat.User{ID: "owner"}, At: time.Now()}
	must(t, s.tx(t.Context(), func(w *writer) error {
		_, more, err := w.emptyRoomStep(wants, "")
		if !more {
			t.Error("no member was removed")
		}
		return err
	}))
	wantMembersCounted(t, s)
	r, err := s.Room(t.Context(), room)
	if err != nil || r.Deleted || r.Members != emptyStep+2 && r.Members != emptyStep+1 {
		t.Errorf("%+v, %v", r, err)
	}
	out := chat.Joining{Room: room, User: "user-10", At: time.Now(), MaxRooms: 1, MaxMembers: 9 * emptyStep}
	if _, changed, err := s.Join(t.Context(), out); err != nil || !changed {
		t.Errorf("removed member joins: changed %v, %v", changed, err)
	}
	if st, err := s.Standing(t.Context(), room, out.User); err != nil || st != (chat.Standing{Ever: true, In: true, Role: chat.Plain, MutedUntil: muted}) {
		t.Errorf("standing after rejoining %+v, %v; want the same mute", st, err)
	}
	out.User = "user-1"
	if _, _, err := s.Join(t.Context(), out); !errors.Is(err, chat.ErrBanned) {
		t.Errorf("banned user joins: %v", err)
	}
	invitation := change(chat.Invite, out.User)
	invitation.MaxMembers = out.MaxMembers
	if _, err := s.Change(t.Context(), invitation); !errors.Is(err, chat.ErrBanned) {
		t.Errorf("banned user is invited: %v", err)
	}
	if st, err := s.Standing(t.Context(), room, out.User); err != nil || st != (chat.Standing{Ever: true, RoomDeleted: true, Banned: true}) {
		t.Errorf("standing of the banned user %+v, %v", st, err)
	}
	wantMembersCounted(t, s)
	if made, err := s.Change(t.Context(), wants); err != nil || !made.Changed {
		t.Errorf("second deletion: %+v, %v", made, err)
	}
	wantMembersCounted(t, s)
}

// TestLargeRoomIsDeletedAfterCallerCancels cancels the caller's context after the first step of a deletion. The
// deletion must be completed all the same.
func TestLargeRoomIsDeletedAfterCallerCancels(t *testing.T) {
	t.Parallel()
	s := storeWithRoom(t)
	must(t, s.tx(t.Context(), func(w *writer) error {
		_, err := w.Exec(`insert into members (room_id, user_id, state, joined_at)
			select $1, 'user-' || n, 'in', n from generate_series(1, $2::int) n`, room, 2*emptyStep)
		if err == nil {
			_, err = w.Exec(`update rooms set members = members + $1`, 2*emptyStep)
		}
		return err
	}))
	must(t, s.withReader(t.Context(), func(r reader) error { return pg.Simple(r.Ctx, r.Conn, commitGate) }))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wg sync.WaitGroup
	must(t, s.withLongSnapshot(t.Context(), func(r pg.Reader) error {
		if err := pg.Simple(r.Ctx, r.Conn, `select pg_advisory_lock(42)`); err != nil {
			return err
		}
		wg.Go(func() {
			made, err := s.Change(ctx, chat.Change{Kind: chat.DeleteRoom, Room: room, By: chat.User{ID: "owner"}, At: time.Now()})
			if err != nil || !made.Room.Deleted {
				t.Errorf("%+v, %v; want the room deleted", made, err)
			}
		})
		await(t, s, `select exists (select 1 from `+gateLocks+` and not granted)`) // the first step
		cancel()
		return pg.Simple(r.Ctx, r.Conn, `select pg_advisory_unlock(42)`)
	}))
	wg.Wait()
	wantMembersCounted(t, s)
}
