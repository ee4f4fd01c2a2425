package pgstore

import (
	"errors"
	"testing"
	"time"

	"hongbao/chat"
)

// TestLargeRoomIsDeleted in several steps, and only by its owner.
func TestLargeRoomIsDeleted(t *testing.T) {
	s := furnished(t)
	const size = 3*emptying + emptying/2
	must(t, s.tx(t.Context(), func(w *writer) error {
		if _, err := w.exec(`insert into members (room_id, user_id, state, banned, joined_at)
			select $1, 'user-' || n, case n % 10 when 0 then 'left' when 1 then 'kicked' else 'in' end, n % 10 = 1, n
			from generate_series(1, $2::int) n`, room, size); err != nil {
			return err
		}
		_, err := w.exec(`update rooms set members = (select count(*) from members where state = 'in')`)
		return err
	}))
	wants := chat.Change{Kind: chat.DeleteRoom, Room: room, By: chat.User{ID: "user-2"}, At: time.Now()}
	if _, err := s.Change(t.Context(), wants); !errors.Is(err, chat.ErrForbidden) {
		t.Errorf("by a member: %v", err)
	}
	counted(t, s)
	wants.By.ID = "owner"
	made, err := s.Change(t.Context(), wants)
	if err != nil || !made.Changed || !made.Room.Deleted || made.Room.Members != 0 || made.Role != chat.NoRole {
		t.Errorf("by the owner: %+v, %v", made, err)
	}
	var gone int
	must(t, s.look(t.Context(), func(r reader) error {
		_, err := r.row(`select count(*) from members where state = 'gone' and role = 'member'`, nil, &gone)
		return err
	}))
	if gone != size+1 {
		t.Errorf("%d are gone, want %d", gone, size+1)
	}
	counted(t, s)
}

// TestLargeRoomIsKeptHalfEmpty: its owner is cut off in the middle, and asks again. Meanwhile the room is as any other.
func TestLargeRoomIsKeptHalfEmpty(t *testing.T) {
	s := furnished(t)
	must(t, s.tx(t.Context(), func(w *writer) error {
		_, err := w.exec(`insert into members (room_id, user_id, state, joined_at)
			select $1, 'user-' || n, 'in', n from generate_series(1, $2::int) n`, room, 2*emptying)
		if err == nil {
			_, err = w.exec(`update rooms set members = members + $1`, 2*emptying)
		}
		return err
	}))
	wants := chat.Change{Kind: chat.DeleteRoom, Room: room, By: chat.User{ID: "owner"}, At: time.Now()}
	must(t, s.tx(t.Context(), func(w *writer) error {
		_, more, err := w.emptySome(wants, "")
		if !more {
			t.Error("nobody was put out")
		}
		return err
	}))
	counted(t, s)
	r, err := s.Room(t.Context(), room)
	if err != nil || r.Deleted || r.Members != emptying+2 && r.Members != emptying+1 {
		t.Errorf("%+v, %v", r, err)
	}
	var out string
	must(t, s.look(t.Context(), func(r reader) error {
		_, err := r.row(`select user_id from members where state = 'gone' limit 1`, nil, &out)
		return err
	}))
	if _, changed, err := s.Join(t.Context(), chat.Joining{Room: room, User: out, At: time.Now(), MaxRooms: 1, MaxMembers: 9 * emptying}); err != nil || !changed {
		t.Errorf("one of those who were put out joins: %v, %v", changed, err)
	}
	counted(t, s)
	if made, err := s.Change(t.Context(), wants); err != nil || !made.Changed {
		t.Errorf("again: %+v, %v", made, err)
	}
	counted(t, s)
}
