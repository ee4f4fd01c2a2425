package chat_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"hongbao/chat"
)

// lostReplyStore commits every change and then returns an error, as if the reply had been lost.
type lostReplyStore struct{ chat.Store }

func (s lostReplyStore) Change(ctx context.Context, c chat.Change) (chat.Changed, error) {
	_, err := s.Store.Change(ctx, c)
	return chat.Changed{}, lost(err)
}

func (s lostReplyStore) Direct(ctx context.Context, p chat.Pairing) (chat.Paired, error) {
	_, err := s.Store.Direct(ctx, p)
	return chat.Paired{}, lost(err)
}

func (s lostReplyStore) Join(ctx context.Context, j chat.Joining) (chat.Membership, bool, error) {
	_, _, err := s.Store.Join(ctx, j)
	return chat.Membership{}, false, lost(err)
}

func (s lostReplyStore) Leave(ctx context.Context, l chat.Leaving) (chat.Left, error) {
	_, err := s.Store.Leave(ctx, l)
	return chat.Left{}, lost(err)
}

func (s lostReplyStore) Revoke(ctx context.Context, user string, second int64) error {
	return lost(s.Store.Revoke(ctx, user, second))
}

func lost(err error) error {
	if err == nil {
		return chat.ErrUnavailable
	}
	return err
}

// TestUnknownOutcome makes changes whose reply is lost. Standings that may have changed must be dropped, on other
// instances too, and nothing may be published to clients.
func TestUnknownOutcome(t *testing.T) {
	h := newTestService(t, chat.Options{})
	room := h.room(chat.Public, "ann", "bob", "cyn")
	h.must(h.SignIn(h.ctx, person("dan")))
	m, err := h.Direct(h.ctx, person("ann"), "bob")
	h.must(err)
	h.must(h.Leave(h.ctx, person("bob"), m.Room.ID))
	h.Stop() // before the take, because a room is counted anew a second after a change
	h.published.take()
	h.takeChanged()

	h.Service = chat.New(lostReplyStore{h.store}, h.published, chat.Options{})
	wantStanding := func(room, user string, want chat.Standing) {
		t.Helper()
		if got := h.standing(room, user); got != want {
			t.Errorf("%s has %+v, want %+v", user, got, want)
		}
	}
	for _, u := range []string{"ann", "bob", "cyn"} {
		h.standing(room, u)
		h.standing(m.Room.ID, u)
	}
	h.refused(h.Invite(h.ctx, person("ann"), room, []string{"dan"}), chat.ErrUnavailable)
	wantStanding(room, "dan", chat.Standing{Ever: true, In: true, Role: chat.Plain})
	h.refused(h.SetRole(h.ctx, person("ann"), room, "bob", chat.Owner), chat.ErrUnavailable)
	wantStanding(room, "ann", chat.Standing{Ever: true, In: true, Role: chat.Admin})
	wantStanding(room, "bob", chat.Standing{Ever: true, In: true, Role: chat.Owner})
	h.refused(h.Kick(h.ctx, person("bob"), room, "ann"), chat.ErrUnavailable)
	wantStanding(room, "ann", chat.Standing{Ever: true})
	_, err = h.Direct(h.ctx, person("bob"), "ann")
	h.refused(err, chat.ErrUnavailable)
	wantStanding(m.Room.ID, "bob", chat.Standing{Ever: true, In: true, Role: chat.Plain, JoinedSeq: 1})
	h.standing(room, "cyn")
	h.refused(h.DeleteRoom(h.ctx, person("bob"), room), chat.ErrUnavailable)
	wantStanding(room, "cyn", chat.Standing{Ever: true, RoomDeleted: true})
	h.must(h.admit(person("cyn"), time.Time{}))
	h.refused(h.Revoke(h.ctx, "cyn"), chat.ErrUnavailable)
	h.refused(h.admit(person("cyn"), time.Time{}), chat.ErrRevoked)
	h.wantPublished()
	if got, want := h.takeChanged(), [][2]string{
		{room, "dan"}, {room, "bob"}, {room, "ann"}, {room, "ann"}, {"", "bob"}, {"", "ann"},
	}; !slices.Equal(got, want) {
		t.Errorf("moved %v, want %v", got, want)
	}
}
