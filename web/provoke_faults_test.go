package web

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
)

// faults are what the stores of a test answer everything with, as soon as there is something.
type faults struct{ err atomic.Pointer[error] }

// errBug is a fault that panics.
var errBug = errors.New("a bug")

// set sets the fault; nil: there is none any more.
func (f *faults) set(err error) { f.err.Store(&err) }

func (f *faults) fault() error {
	err := f.err.Load()
	switch {
	case err == nil:
		return nil
	case errors.Is(*err, errBug):
		panic(errBug)
	}
	return *err
}

// faulty makes the stores of the house fail when they are told to.
func (house *testHouse) faulty() *faults {
	f := &faults{}
	house.store = &watchedStore{Store: faultyStore{house.store.Store, f}}
	house.ledger = faultyLedger{house.ledger, f}
	return f
}

// faultyStore and faultyLedger are the real ones until a fault is set.
type faultyStore struct {
	chat.Store
	*faults
}

type faultyLedger struct {
	redpacket.Ledger
	*faults
}

func (s faultyStore) Epoch(ctx context.Context) (_ string, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Epoch(ctx)
}

func (s faultyStore) PutUser(ctx context.Context, u chat.User) (_ int64, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.PutUser(ctx, u)
}

func (s faultyStore) Revoke(ctx context.Context, user string, second int64) (err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Revoke(ctx, user, second)
}

func (s faultyStore) KeyUsed(ctx context.Context, user, key string) (_ bool, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.KeyUsed(ctx, user, key)
}

func (s faultyStore) CreateRoom(ctx context.Context, r chat.NewRoom) (_ chat.Membership, _ bool, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.CreateRoom(ctx, r)
}

func (s faultyStore) Join(ctx context.Context, j chat.Joining) (_ chat.Membership, _ bool, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Join(ctx, j)
}

func (s faultyStore) Leave(ctx context.Context, l chat.Leaving) (_ chat.Left, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Leave(ctx, l)
}

func (s faultyStore) Direct(ctx context.Context, p chat.Pairing) (_ chat.Paired, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Direct(ctx, p)
}

func (s faultyStore) Change(ctx context.Context, c chat.Change) (_ chat.Changed, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Change(ctx, c)
}

func (s faultyStore) FindRooms(ctx context.Context, query, next string, limit int) (_ []chat.Room, _ string, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.FindRooms(ctx, query, next, limit)
}

func (s faultyStore) Room(ctx context.Context, room string) (_ chat.Room, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Room(ctx, room)
}

func (s faultyStore) Roster(ctx context.Context, room string, limit int) (_ []string, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Roster(ctx, room, limit)
}

func (s faultyStore) Members(ctx context.Context, room, next string, limit int) (_ []chat.Member, _ string, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Members(ctx, room, next, limit)
}

func (s faultyStore) Standing(ctx context.Context, room, user string) (_ chat.Standing, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Standing(ctx, room, user)
}

func (s faultyStore) Memberships(ctx context.Context, user string) (_ []chat.Membership, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Memberships(ctx, user)
}

func (s faultyStore) Membership(ctx context.Context, room, user string) (_ chat.Membership, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Membership(ctx, room, user)
}

func (s faultyStore) Append(ctx context.Context, d chat.Draft) (_ chat.Entry, _ bool, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Append(ctx, d)
}

func (s faultyStore) Amend(ctx context.Context, a chat.Amendment) (_ chat.Amended, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Amend(ctx, a)
}

func (s faultyStore) History(ctx context.Context, room string, p chat.Page) (_ []chat.Entry, _ bool, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.History(ctx, room, p)
}

func (s faultyStore) Spans(ctx context.Context, spans []chat.Span) (_ map[string][]chat.Entry, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Spans(ctx, spans)
}

func (s faultyStore) LastSeqs(ctx context.Context, rooms []string) (_ map[string]int64, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.LastSeqs(ctx, rooms)
}

func (s faultyStore) Read(ctx context.Context, room, user string, seq int64) (_ chat.Reading, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Store.Read(ctx, room, user, seq)
}

func (s faultyLedger) Account(ctx context.Context, user string) (_ redpacket.Account, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Ledger.Account(ctx, user)
}

func (s faultyLedger) Send(ctx context.Context, o redpacket.Order) (_ redpacket.Sent, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Ledger.Send(ctx, o)
}

func (s faultyLedger) KeyUsed(ctx context.Context, user, key string) (_ bool, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Ledger.KeyUsed(ctx, user, key)
}

func (s faultyLedger) Settle(ctx context.Context, claims []redpacket.Claim) (_ []redpacket.Settlement, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Ledger.Settle(ctx, claims)
}

func (s faultyLedger) End(ctx context.Context, c redpacket.Close) (_ redpacket.Closed, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Ledger.End(ctx, c)
}

func (s faultyLedger) Quarantine(ctx context.Context, claims []redpacket.Claim, why string) (err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Ledger.Quarantine(ctx, claims, why)
}

func (s faultyLedger) Image(ctx context.Context, packet string) (_ redpacket.Image, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Ledger.Image(ctx, packet)
}

func (s faultyLedger) Packet(ctx context.Context, packet string) (_ redpacket.Packet, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Ledger.Packet(ctx, packet)
}

func (s faultyLedger) Book(ctx context.Context, packet string) (_ redpacket.Book, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Ledger.Book(ctx, packet)
}

func (s faultyLedger) States(ctx context.Context, user string, packets []string) (_ []redpacket.State, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Ledger.States(ctx, user, packets)
}

func (s faultyLedger) Overdue(ctx context.Context, before time.Time, limit int) (_ []redpacket.Overdue, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Ledger.Overdue(ctx, before, limit)
}

func (s faultyLedger) Packets(ctx context.Context, q redpacket.PacketsQuery) (_ redpacket.PacketsPage, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Ledger.Packets(ctx, q)
}

func (s faultyLedger) Transfers(ctx context.Context, user, next string, limit int) (_ []redpacket.Transfer, _ string, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Ledger.Transfers(ctx, user, next, limit)
}

func (s faultyLedger) Adjust(ctx context.Context, a redpacket.Adjustment) (_ redpacket.Account, _ bool, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Ledger.Adjust(ctx, a)
}

func (s faultyLedger) Audit(ctx context.Context, show func(redpacket.AuditLine)) (_ redpacket.Audit, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Ledger.Audit(ctx, show)
}
