package redpacket_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hongbao/chat"
	"hongbao/redpacket"
)

// TestModel plays random histories over the real service, real SQLite and the memory Pool: money from and to
// outside, packets of every mode, crowds that grab, cancels, repeated requests, lost answers, engines that fail
// for one call, a Pool that forgets, restarts, and time. After every step all books are compared with the
// model's: no money made or lost, nobody overdrawn, each share and each user paid once, each refund once,
// whoever was told "won" in the book with that amount, and what has ended unchanged for ever.
func TestModel(t *testing.T) {
	steps := 40
	if redpacket.RaceDetector {
		steps = 6
	}
	e := &modelEngines{dir: t.TempDir(), clock: &clock{t: time.UnixMilli(1_800_000_000_000)}}
	e.start(t)
	t.Cleanup(func() { e.stop(t) })
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		m := newModel(rt, e, run)
		m.play(rapid.IntRange(1, steps).Draw(rt, "steps"))
		m.settleDown()
	})
	a, err := e.packets.Audit(t.Context())
	if err != nil || len(a.Differences) > 0 || a.OpenPackets > 0 {
		t.Errorf("audit: %+v, %v", a, err)
	}
}

// play takes random steps. Those that matter most stand there more than once.
func (m *model) play(steps int) {
	kinds := map[string]func(){
		"adjust": m.adjust, "send": m.send, "send again": m.sendAgain, "send other content": m.sendOther, "grab": m.grab,
		"cancel": m.cancel, "time": m.pass, "tasks": m.tasks, "forget": m.forget, "restart": m.restart,
	}
	names := []string{"adjust", "send", "send", "send again", "send other content", "grab", "grab", "grab", "grab",
		"cancel", "time", "time", "tasks", "forget", "restart"}
	for range steps {
		kinds[rapid.SampledFrom(names).Draw(m.T, "step")]()
		m.compare()
	}
}

func (m *model) adjust() {
	user := m.someone()
	amount := redpacket.Money(rapid.IntRange(-500, 1000).Draw(m.T, "amount"))
	key := m.newKey()
	for try := range rapid.IntRange(1, 2).Draw(m.T, "tries") {
		acc, dup, err := m.packets.Adjust(m.ctx, user, amount, key, "a note")
		switch {
		case amount == 0:
			m.want("adjust", err, chat.ErrBadRequest)
		case m.balances[user]+amount < 0 && try == 0:
			m.want("adjust", err, redpacket.ErrInsufficientBalance)
			return
		default:
			m.want("adjust", err, nil)
			if try == 0 {
				m.balances[user] += amount
				m.funded += amount
			}
			if dup != (try > 0) || acc.Balance != m.balances[user] {
				m.Fatalf("try %d of adjusting %s by %d: %+v, dup %v", try, user, amount, acc, dup)
			}
		}
	}
}

func (m *model) send() {
	from := m.someone()
	cut := rapid.SampledFrom([]redpacket.SendRequest{
		{Mode: redpacket.Equal}, {Spread: redpacket.Calm}, {Spread: redpacket.Classic}, {Spread: redpacket.Wild},
	}).Draw(m.T, "cut")
	cut.Room, cut.Key = m.room, m.newKey()
	cut.Count = rapid.IntRange(1, 6).Draw(m.T, "count")
	cut.Total = redpacket.Money(rapid.IntRange(1, 600).Draw(m.T, "total"))
	cut.TTL = rapid.SampledFrom([]time.Duration{5 * time.Second, time.Minute, time.Hour}).Draw(m.T, "ttl")
	sent, err := m.packets.Send(m.ctx, person(from), cut)
	switch {
	case cut.Total < redpacket.Money(cut.Count):
		m.want("send", err, chat.ErrBadRequest)
	case m.balances[from] < cut.Total:
		m.want("send", err, redpacket.ErrInsufficientBalance)
	default:
		m.want("send", err, nil)
		m.balances[from] -= cut.Total
		m.sent = append(m.sent, &modelPacket{Packet: sent.Packet, request: cut, maybe: map[string]bool{}, claims: map[string]redpacket.Paid{},
			book: redpacket.Book{Status: redpacket.Open}})
		if sent.Dup || sent.Account.Balance != m.balances[from] {
			m.Fatalf("sent %+v", sent)
		}
	}
}

func (m *model) sendAgain() {
	p := m.anyPacket()
	if p == nil {
		return
	}
	again, err := m.packets.Send(m.ctx, p.From, p.request)
	m.want("send again", err, nil)
	if !again.Dup || again.Packet.ID != p.ID || again.Account.Balance != m.balances[p.From.ID] {
		m.Fatalf("repeated %+v: %+v", p.request, again)
	}
}

func (m *model) sendOther() {
	p := m.anyPacket()
	if p == nil {
		return
	}
	other := p.request
	other.Total++
	_, err := m.packets.Send(m.ctx, p.From, other)
	m.want("another content under one key", err, chat.ErrKeyReused)
}

// grab has a crowd grab at once, some of them twice. A crowd of one may meet a fault.
func (m *model) grab() {
	p := m.anyPacket()
	if p == nil {
		return
	}
	crowd := rapid.SliceOfN(rapid.SampledFrom(m.users), 1, 8).Draw(m.T, "crowd")
	faulty := false
	if len(crowd) == 1 {
		faulty = m.arm("pool.Grab", "ledger.Settle", "ledger.End")
	}
	expected := m.mustWin(p, crowd, faulty)
	results := make([]redpacket.Result, len(crowd))
	errs := make([]error, len(crowd))
	var all sync.WaitGroup
	for i, user := range crowd {
		all.Go(func() {
			results[i], errs[i] = m.packets.Grab(context.Background(), redpacket.Try{User: user, Packet: p.ID})
		})
	}
	all.Wait()
	m.packets.Idle()
	m.disarm()
	won := 0
	for i, user := range crowd {
		if m.told(p, user, results[i], errs[i], faulty) {
			won++
		}
	}
	if expected >= 0 && won != expected {
		m.Fatalf("%d of %v won, want %d: %+v", won, crowd, expected, results)
	}
}

// mustWin tells how many of the crowd have to win, or -1 where a fault has made that uncertain.
func (m *model) mustWin(p *modelPacket, crowd []string, faulty bool) int {
	switch {
	case faulty || len(p.maybe) > 0 || p.cancelling:
		return -1
	case p.book.Status != redpacket.Open || m.late(p):
		return 0
	}
	without := map[string]bool{}
	for _, user := range crowd {
		if _, has := p.claims[user]; !has {
			without[user] = true
		}
	}
	return min(len(without), p.Count-len(p.claims))
}

// told judges one answer, and tells whether it is "won".
func (m *model) told(p *modelPacket, user string, r redpacket.Result, err error, faulty bool) bool {
	had, has := p.claims[user]
	switch {
	case err != nil:
		if !faulty || !errors.Is(err, chat.ErrUnavailable) {
			m.Fatalf("%s grabs: %v", user, err)
		}
		p.maybe[user] = true
	case r.Outcome == redpacket.OutcomeWon && has, r.Outcome != redpacket.OutcomeAlready && has:
		m.Fatalf("%s has %+v, and hears %+v", user, had, r)
	case r.Outcome == redpacket.OutcomeWon, r.Outcome == redpacket.OutcomeAlready:
		if has && (r.Amount != had.Amount || r.Rank != had.Rank() || !r.At.Equal(had.At)) {
			m.Fatalf("%s has %+v, and hears %+v", user, had, r)
		}
		p.maybe[user] = true
		m.promises = append(m.promises, promise{p, user, r})
	case r.Outcome == redpacket.OutcomeExpired:
		if !m.late(p) && !p.cancelling && p.book.Status != redpacket.Expired && p.book.Status != redpacket.Cancelled {
			m.Fatalf("%s hears %+v of a packet that is %s", user, r, p.book.Status)
		}
	}
	return err == nil && r.Outcome == redpacket.OutcomeWon
}

func (m *model) cancel() {
	p := m.anyPacket()
	if p == nil {
		return
	}
	uncertain := m.arm("ledger.Settle", "ledger.End") || len(p.maybe) > 0 || p.cancelling
	state, balance, err := m.packets.Cancel(m.ctx, p.From.ID, p.ID)
	m.disarm()
	switch {
	case p.book.Status == redpacket.Cancelled:
		m.want("cancel again", err, nil)
	case p.book.Status != redpacket.Open || m.late(p) && !p.cancelling || len(p.claims) > 0:
		m.want("cancel too late", err, redpacket.ErrPacketFinished)
		return
	case !uncertain:
		m.want("cancel", err, nil)
	case errors.Is(err, redpacket.ErrPacketFinished): // a share was granted, or the first cancel is on its way
		return
	}
	p.cancelling = true
	m.balances[p.From.ID] += m.adopt(p)
	if err == nil && (state.Status != redpacket.Cancelled || balance != m.balances[p.From.ID]) {
		m.Fatalf("cancelled: %+v, %d", state, balance)
	}
}

func (m *model) pass() {
	m.clock.advance(rapid.SampledFrom([]time.Duration{time.Millisecond, 2 * time.Second, 6 * time.Second, time.Minute}).Draw(m.T, "time"))
}

// tasks has the background do all it can at this moment: twice, for the first pass may have to load what the
// Pool forgot. What is late must have ended then.
func (m *model) tasks() {
	m.packets.Pass(m.ctx)
	m.packets.Pass(m.ctx)
	m.compare()
	for _, p := range m.sent {
		if p.book.Status == redpacket.Open && m.late(p) && !p.cancelling {
			m.Fatalf("packet %s is late and still open", p.ID)
		}
	}
}

func (m *model) forget() { m.pool.Forget() }

func (m *model) restart() {
	m.stop(m.T)
	m.start(m.T)
}

// settleDown ends the history: with time, everything ends.
func (m *model) settleDown() {
	m.clock.advance(2 * time.Hour)
	m.tasks()
	m.clock.advance(redpacket.CloseLease)
	m.tasks()
	sum := redpacket.Money(0)
	for _, b := range m.balances {
		sum += b
	}
	if sum != m.funded {
		m.Fatalf("%d funded, %d in wallets", m.funded, sum)
	}
	if slices.ContainsFunc(m.sent, func(p *modelPacket) bool { return p.book.Status == redpacket.Open }) {
		m.Fatal("a packet never ended")
	}
}
