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

// services holds the real services over Redis and Postgres, as one instance has them without its sockets, and a room full of
// members.
type services struct {
	rooms   *chat.Service
	packets *redpacket.Service
	ledger  redpacket.Ledger
	room    string
	members []chat.User
	senders int // the first members, which have money
}

// discardPublisher is a publisher that drops everything: other benchmarks measure publishing.
type discardPublisher struct{}

// Entry implements chat.Publisher.
func (discardPublisher) Entry(chat.Entry) {}

// ToRoom implements chat.Publisher.
func (discardPublisher) ToRoom(string, chat.Event) {}

// ToUser implements chat.Publisher.
func (discardPublisher) ToUser(string, chat.Event) {}

// StandingChanged implements chat.Publisher.
func (discardPublisher) StandingChanged(string, string) {}

// newServices opens the services and fills the room.
func newServices(ctx context.Context, s *testbed, pg *loopback.Postgres, members int) (*services, error) {
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
	rooms := chat.New(pgStore, discardPublisher{}, chat.Options{Log: s.log})
	s.addCleanup(func() error { rooms.Stop(); return nil })
	sv := &services{
		rooms: rooms, ledger: pgStore, members: newUsers(members), senders: 64,
		packets: redpacket.New(pgStore, redisStore.Pool(), rooms, discardPublisher{}, redpacket.Options{Log: s.log}),
	}
	sv.run(ctx, s)
	if sv.room, err = newFullRoom(ctx, rooms, sv.members); err != nil {
		return nil, err
	}
	return sv, sv.fund(ctx)
}

// run drives the background tasks until cleanup.
func (sv *services) run(ctx context.Context, s *testbed) {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	var tasks sync.WaitGroup
	tasks.Go(func() { _ = sv.packets.Run(ctx) }) // returns nil when ctx ends
	s.addCleanup(func() error {
		stop()
		tasks.Wait()
		return nil
	})
}

func newUsers(n int) []chat.User {
	all := make([]chat.User, n)
	for i := range all {
		all[i] = chat.User{ID: "u" + strconv.Itoa(i), Name: "user " + strconv.Itoa(i)}
	}
	return all
}

// newFullRoom creates a room with all members. It also loads each member's standing into the service's cache, as connecting does.
func newFullRoom(ctx context.Context, rooms *chat.Service, members []chat.User) (string, error) {
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
	// Only after all have joined: while joins are running, the cache does not keep everything that is read.
	return m.Room.ID, each(ctx, members, func(ctx context.Context, u chat.User) error { return checkMember(ctx, rooms, m.Room.ID, u) })
}

func checkMember(ctx context.Context, rooms *chat.Service, room string, u chat.User) error {
	st, err := rooms.Standing(ctx, room, u.ID)
	if err == nil && !st.In {
		err = fmt.Errorf("%s is not in the room", u.ID)
	}
	return err
}

func (sv *services) fund(ctx context.Context) error {
	return each(ctx, sv.members[:sv.senders], func(ctx context.Context, u chat.User) error {
		_, _, err := sv.packets.Adjust(ctx, redpacket.AdjustRequest{User: u.ID, Amount: 1_000_000_000_000, Key: "fund-" + u.ID})
		return err
	})
}

// audit checks the books.
func (sv *services) audit(ctx context.Context) error { return checkAudit(sv.packets.Audit(ctx)) }

func checkAudit(a redpacket.Audit, err error) error {
	switch {
	case err != nil:
		return err
	case len(a.Differences) > 0:
		return fmt.Errorf("audit found %d differences, the first: %+v", len(a.Differences), a.Differences[0])
	case a.Funded != a.InWallets+a.InPackets:
		return fmt.Errorf("funded %d, in wallets %d and in packets %d", a.Funded, a.InWallets, a.InPackets)
	}
	return nil
}
