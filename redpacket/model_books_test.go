package redpacket_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"pgregory.net/rapid"

	"hongbao/chat"
	"hongbao/redpacket"
)

// model is the expected state of the books. After a fault it may be unknown whether a user got a share, or whether a
// packet was cancelled. Then the model accepts either state, and expects it to stay.
type model struct {
	*rapid.T
	*modelEngines
	ctx      context.Context
	run      int
	room     string
	users    []string
	keys     int
	balances map[string]redpacket.Money
	funded   redpacket.Money
	sent     []*modelPacket
	wins     []reportedWin
}

type modelPacket struct {
	redpacket.Packet
	request    redpacket.SendRequest
	claims     map[string]redpacket.Paid // by user
	maybe      map[string]bool           // users that may get a claim, or were just told that they have one
	deleted    bool                      // the packet's room was deleted
	cancelling bool                      // a cancel was requested, with unknown outcome
	book       redpacket.Book            // the packet's book at the last comparison
}

// reportedWin is a "won" or "already" that was returned to a user.
type reportedWin struct {
	packet *modelPacket
	user   string
	result redpacket.Result
}

// newModel creates the model of one history. Histories share the engines, but each has its own room and users.
func newModel(t *rapid.T, e *modelEngines, run int) *model {
	m := &model{T: t, modelEngines: e, ctx: context.Background(), run: run, balances: map[string]redpacket.Money{}}
	for i := range 7 {
		user := fmt.Sprintf("run-%d-user-%d", run, i)
		m.users = append(m.users, user)
		m.want("sign in", m.rooms.SignIn(m.ctx, person(user)), nil)
	}
	m.openRoom()
	return m
}

// openRoom creates a room with all users in it.
func (m *model) openRoom() {
	room, _, err := m.rooms.CreateRoom(m.ctx, person(m.users[0]), chat.CreateRoom{Key: m.newKey(), Name: "hall", Kind: chat.Public})
	m.want("create room", err, nil)
	m.room = room.Room.ID
	for _, user := range m.users[1:] {
		_, err := m.rooms.Join(m.ctx, person(user), m.room)
		m.want("join", err, nil)
	}
}

func (m *model) want(what string, err, want error) {
	m.Helper()
	if !errors.Is(err, want) {
		m.Fatalf("%s: %v, want %v", what, err, want)
	}
}

func (m *model) newKey() string {
	m.keys++
	return fmt.Sprintf("run-%d-key-%d", m.run, m.keys)
}

func (m *model) someone() string { return rapid.SampledFrom(m.users).Draw(m.T, "user") }

func (m *model) anyPacket() *modelPacket {
	if len(m.sent) == 0 {
		return nil
	}
	return rapid.SampledFrom(m.sent).Draw(m.T, "packet")
}

func (m *model) pastDeadline(p *modelPacket) bool { return !m.clock.now().Before(p.ExpiresAt) }

// compare reads all books and fails the test if they contradict the model. Where faults or time have left the outcome
// open, it updates the model to what the books have.
func (m *model) compare() {
	m.Helper()
	inPackets := redpacket.Money(0)
	for _, p := range m.sent {
		m.balances[p.From.ID] += m.adopt(p)
		if p.book.Status == redpacket.Open {
			inPackets += p.Total
			for _, c := range p.claims {
				inPackets -= c.Amount
			}
		}
	}
	sum := inPackets
	for _, user := range m.users {
		acc, err := m.packets.Account(m.ctx, user)
		m.want("account", err, nil)
		if acc.Balance != m.balances[user] || acc.Balance < 0 {
			m.Fatalf("%s has %d, want %d", user, acc.Balance, m.balances[user])
		}
		sum += acc.Balance
	}
	if sum != m.funded {
		m.Fatalf("money made or lost: %d funded, %d there", m.funded, sum)
	}
	for _, kept := range m.wins {
		c, has := kept.packet.claims[kept.user]
		if r := kept.result; !has || c.Amount != r.Amount || c.Rank() != r.Rank {
			m.Fatalf("%s was answered %+v, and has %+v", kept.user, r, c)
		}
	}
	m.wins = nil
}

// adopt compares a packet's book with the model. It adds the book's new claims and the packet's end to the model, and
// returns the refund.
func (m *model) adopt(p *modelPacket) (refund redpacket.Money) {
	m.Helper()
	b, err := m.store.Book(m.ctx, p.ID)
	m.want("book", err, nil)
	if p.book.Status != redpacket.Open {
		if !reflect.DeepEqual(b, p.book) {
			m.Fatalf("a packet that has ended was %+v, and is %+v", p.book, b)
		}
		return 0
	}
	m.adoptClaims(p, b)
	p.book = b
	if b.Status == redpacket.Open {
		return 0
	}
	refund = p.Total
	for _, c := range b.Claims {
		refund -= c.Amount
	}
	full := len(b.Claims) == p.Count
	fits := map[redpacket.Status]bool{
		redpacket.Drained: full, redpacket.Expired: !full && (m.pastDeadline(p) || p.deleted), redpacket.Cancelled: !full && p.cancelling,
	}
	if !fits[b.Status] || b.Refunded != refund {
		m.Fatalf("ended as %+v, with %d left", b, refund)
	}
	return refund
}

func (m *model) adoptClaims(p *modelPacket, b redpacket.Book) {
	m.Helper()
	shares := map[int]bool{}
	for _, c := range b.Claims {
		if shares[c.Share] || c.Amount != b.Shares[c.Share] {
			m.Fatalf("claims of %s: %+v", p.ID, b.Claims)
		}
		shares[c.Share] = true
		user := c.User.ID
		known, has := p.claims[user]
		switch {
		case has && known != c:
			m.Fatalf("%s had %+v, and has %+v", user, known, c)
		case !has && !p.maybe[user]:
			m.Fatalf("%s has a claim, and never grabbed: %+v", user, c)
		case !has:
			p.claims[user] = c
			delete(p.maybe, user)
			m.balances[user] += c.Amount
		}
	}
	if len(b.Claims) != len(p.claims) {
		m.Fatalf("claims of %s were lost: %+v, want %+v", p.ID, b.Claims, p.claims)
	}
	for user := range p.claims {
		delete(p.maybe, user)
	}
}

// arm draws whether the next call of one of these methods fails, and if so before or after its work. It reports
// whether a call will fail.
func (m *model) arm(methods ...string) bool {
	m.fault = fault{method: rapid.SampledFrom(append(methods, "", "", "")).Draw(m.T, "fault")}
	if m.fault.method != "" {
		m.fault.after = rapid.Bool().Draw(m.T, "after")
	}
	return m.fault.method != ""
}

func (m *model) disarm() { m.fault = fault{} }
