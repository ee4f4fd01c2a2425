package main

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/loopback"
)

// house is the real services over Redis and Postgres, as in one instance of the server without its sockets, with a
// room full of members.
type house struct {
	rooms   *chat.Service
	packets *redpacket.Service
	ledger  redpacket.Ledger
	room    string
	members []chat.User
	senders int // the first so many members have money
}

// silence is a publisher that tells nobody: what it costs to tell is measured elsewhere.
type silence struct{}

// Entry implements chat.Publisher.
func (silence) Entry(chat.Entry) {}

// ToRoom implements chat.Publisher.
func (silence) ToRoom(string, chat.Event) {}

// ToUser implements chat.Publisher.
func (silence) ToUser(string, chat.Event) {}

// Moved implements chat.Publisher.
func (silence) Moved(string, string) {}

// newHouse opens the services and fills the room.
func newHouse(ctx context.Context, s *site, pg *loopback.Postgres, members int) (*house, error) {
	r, err := s.redis(ctx)
	if err != nil {
		return nil, err
	}
	redisStore, err := s.redisStore(ctx, r)
	if err != nil {
		return nil, err
	}
	url, err := pg.NewDatabase(ctx)
	if err != nil {
		return nil, err
	}
	pgStore, err := s.pgStore(ctx, url)
	if err != nil {
		return nil, err
	}
	rooms := chat.New(pgStore, silence{}, chat.Options{Log: s.log})
	s.later(func() error { rooms.Stop(); return nil })
	h := &house{
		rooms: rooms, ledger: pgStore, members: people(members), senders: 64,
		packets: redpacket.New(pgStore, redisStore.Pool(), rooms, silence{}, redpacket.Options{Log: s.log}),
	}
	h.run(ctx, s)
	if h.room, err = fullRoom(ctx, rooms, h.members); err != nil {
		return nil, err
	}
	return h, h.fund(ctx)
}

// run drives the background tasks until the site is cleared.
func (h *house) run(ctx context.Context, s *site) {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	var tasks sync.WaitGroup
	tasks.Go(func() { _ = h.packets.Run(ctx) }) // ends without an error, when it is told to
	s.later(func() error {
		stop()
		tasks.Wait()
		return nil
	})
}

func people(n int) []chat.User {
	all := make([]chat.User, n)
	for i := range all {
		all[i] = chat.User{ID: "u" + strconv.Itoa(i), Name: "user " + strconv.Itoa(i)}
	}
	return all
}

// fullRoom makes a room that all are in, and has the service remember how they stand to it, as it does when they
// connect.
func fullRoom(ctx context.Context, rooms *chat.Service, members []chat.User) (string, error) {
	m, _, err := rooms.CreateRoom(ctx, members[0], chat.CreateRoom{Key: "room", Name: "hall"})
	if err != nil {
		return "", err
	}
	err = each(ctx, members[1:], func(ctx context.Context, u chat.User) error {
		_, err := rooms.Join(ctx, u, m.Room.ID)
		return err
	})
	if err != nil {
		return "", err
	}
	// When all have joined: while others do, not everything that is read is remembered.
	return m.Room.ID, each(ctx, members, func(ctx context.Context, u chat.User) error { return stand(ctx, rooms, m.Room.ID, u) })
}

func stand(ctx context.Context, rooms *chat.Service, room string, u chat.User) error {
	st, err := rooms.Standing(ctx, room, u.ID)
	if err == nil && !st.In {
		err = fmt.Errorf("%s is not in the room", u.ID)
	}
	return err
}

func (h *house) fund(ctx context.Context) error {
	return each(ctx, h.members[:h.senders], func(ctx context.Context, u chat.User) error {
		_, _, err := h.packets.Adjust(ctx, u.ID, 1_000_000_000_000, "fund-"+u.ID, "")
		return err
	})
}

// audit sees that the books are right.
func (h *house) audit(ctx context.Context) error { return checkAudit(h.packets.Audit(ctx)) }

func checkAudit(a redpacket.Audit, err error) error {
	switch {
	case err != nil:
		return err
	case len(a.Differences) > 0:
		return fmt.Errorf("audit finds %d differences, the first: %+v", len(a.Differences), a.Differences[0])
	case a.Funded != a.InWallets+a.InPackets:
		return fmt.Errorf("funded %d, in wallets %d and in packets %d", a.Funded, a.InWallets, a.InPackets)
	}
	return nil
}
