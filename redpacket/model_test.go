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
	"hongbao/store/enginetest"
)

// TestModel runs random histories over the real service, real SQLite and the memory Pool. Steps of a history: moving
// money from and to outside, packets of every mode, grabs by many users at the same time, cancels, repeated requests.
// Faults: lost answers, engines that fail for one call, a Pool that loses all data, restarts, and passing time.
//
// After every step all books are compared with the model. No money may be made or lost, and no balance may be
// negative. Each share, each user and each refund must be paid once. Each user that was answered "won" must be in the
// book with that amount. A packet that has ended must never change.
func TestModel(t *testing.T) {
	steps := 40
	if enginetest.RaceDetector() {
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
		m.finish()
	})
	a, err := e.packets.Audit(t.Context())
	if err != nil || len(a.Differences) > 0 || a.OpenPackets > 0 {
		t.Errorf("audit: %+v, %v", a, err)
	}
}

// play takes random steps. More important steps are in the list more than once.
func (m *model) play(steps int) {
	kinds := map[string]func(){
		"adjust": m.adjust, "send": m.send, "send again": m.sendAgain, "send other content": m.sendOther, "grab": m.grab,
		"cancel": m.cancel, "delete room": m.deleteRoom, "time": m.pass, "tasks": m.tasks, "forget": m.forget, "restart": m.restart,
	}
	names := []string{"adjust", "send", "send", "send again", "send other content", "grab", "grab", "grab", "grab",
		"cancel", "delete room", "time", "time", "tasks", "forget", "restart"}
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
		acc, dup, err := m.packets.Adjust(m.ctx, redpacket.AdjustRequest{User: user, Amount: amount, Key: key, Note: "a note"})
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

// grab lets several users grab at the same time, some of them twice. If there is only one grab, an engine may fail
// during it.
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
			results[i], errs[i] = m.packets.Grab(context.Background(), redpacket.GrabRequest{User: user, Packet: p.ID})
		})
	}
	all.Wait()
	m.packets.Idle()
	m.disarm()
	won := 0
	for i, user := range crowd {
		if m.checkAnswer(p, user, results[i], errs[i], faulty) {
			won++
		}
	}
	if expected >= 0 && won != expected {
		m.Fatalf("%d of %v won, want %d: %+v", won, crowd, expected, results)
	}
}

// mustWin returns how many of these users must win, or -1 if a fault has made that number uncertain.
func (m *model) mustWin(p *modelPacket, crowd []string, faulty bool) int {
	switch {
	case faulty || len(p.maybe) > 0 || p.cancelling:
		return -1
	case p.book.Status != redpacket.Open || m.pastDeadline(p) || p.deleted:
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

// checkAnswer checks the answer to one grab, and reports whether the answer is "won".
func (m *model) checkAnswer(p *modelPacket, user string, r redpacket.Result, err error, faulty bool) bool {
	had, has := p.claims[user]
	switch {
	case p.deleted && !has && errors.Is(err, chat.ErrNotFound):
	case p.deleted && err == nil && r.Outcome != redpacket.OutcomeAlready:
		m.Fatalf("%s grabs in a deleted room, and gets %+v", user, r)
	case err != nil:
		if !faulty || !errors.Is(err, chat.ErrUnavailable) {
			m.Fatalf("%s grabs: %v", user, err)
		}
		p.maybe[user] = true
	case r.Outcome == redpacket.OutcomeWon && has, r.Outcome != redpacket.OutcomeAlready && has:
		m.Fatalf("%s has %+v, and gets %+v", user, had, r)
	case r.Outcome == redpacket.OutcomeWon, r.Outcome == redpacket.OutcomeAlready:
		if has && (r.Amount != had.Amount || r.Rank != had.Rank() || !r.At.Equal(had.At)) {
			m.Fatalf("%s has %+v, and gets %+v", user, had, r)
		}
		p.maybe[user] = true
		m.wins = append(m.wins, reportedWin{p, user, r})
	case r.Outcome == redpacket.OutcomeExpired:
		if !m.pastDeadline(p) && !p.cancelling && p.book.Status != redpacket.Expired && p.book.Status != redpacket.Cancelled {
			m.Fatalf("%s gets %+v of a packet that is %s", user, r, p.book.Status)
		}
	}
	return err == nil && r.Outcome == redpacket.OutcomeWon
}

func (m *model) cancel() {
	p := m.anyPacket()
	if p == nil {
		return
	}
	if p.deleted {
		_, _, err := m.packets.Cancel(m.ctx, p.From.ID, p.ID)
		m.want("cancel in a deleted room", err, chat.ErrNotFound)
		return
	}
	uncertain := m.arm("ledger.Settle", "ledger.End") || len(p.maybe) > 0 || p.cancelling
	state, acc, err := m.packets.Cancel(m.ctx, p.From.ID, p.ID)
	m.disarm()
	switch {
	case p.book.Status == redpacket.Cancelled:
		m.want("cancel again", err, nil)
	case p.book.Status != redpacket.Open || m.pastDeadline(p) && !p.cancelling || len(p.claims) > 0:
		m.want("cancel too late", err, redpacket.ErrPacketFinished)
		return
	case !uncertain:
		m.want("cancel", err, nil)
	case errors.Is(err, redpacket.ErrPacketFinished): // a share was granted meanwhile, or an earlier cancel is still under way
		return
	}
	p.cancelling = true
	m.balances[p.From.ID] += m.adopt(p)
	if err == nil && (state.Status != redpacket.Cancelled || acc.Balance != m.balances[p.From.ID]) {
		m.Fatalf("cancelled: %+v, %+v", state, acc)
	}
}

// deleteRoom deletes the room of the model, and creates another one for later packets. The instance may die, or an
// engine fail, before the packets of the deleted room are closed. Then the background tasks must close them.
func (m *model) deleteRoom() {
	room := m.room
	m.want("delete room", m.rooms.DeleteRoom(m.ctx, person(m.users[0]), room), nil)
	for _, p := range m.sent {
		p.deleted = p.deleted || p.Room == room
	}
	if rapid.Bool().Draw(m.T, "lives on") {
		faulty := m.arm("ledger.Settle", "ledger.End")
		m.packets.RoomDeleted(room)
		m.packets.Idle()
		m.disarm()
		m.compare()
		for _, p := range m.sent {
			if !faulty && p.Room == room && p.book.Status == redpacket.Open {
				m.Fatalf("packet %s is open, and its room was deleted", p.ID)
			}
		}
		if faulty { // a packet whose close has failed is not closed again at once
			m.clock.advance(redpacket.MostReclose)
		}
	}
	m.openRoom()
}

func (m *model) pass() {
	m.clock.advance(rapid.SampledFrom([]time.Duration{time.Millisecond, 2 * time.Second, 6 * time.Second, time.Minute}).Draw(m.T, "time"))
}

// tasks runs each background task twice, because the first pass may only load packets that the Pool has lost. After
// that each packet past its deadline must have ended.
func (m *model) tasks() {
	m.packets.Pass(m.ctx)
	m.packets.Pass(m.ctx)
	m.compare()
	for _, p := range m.sent {
		if p.book.Status == redpacket.Open && m.pastDeadline(p) && !p.cancelling {
			m.Fatalf("packet %s is past its deadline and still open", p.ID)
		}
		if p.book.Status == redpacket.Open && p.deleted {
			m.Fatalf("packet %s is still open, and its room was deleted", p.ID)
		}
	}
}

func (m *model) forget() { m.pool.Forget() }

func (m *model) restart() {
	m.stop(m.T)
	m.start(m.T)
}

// finish ends the history: it lets time pass until every packet has ended.
func (m *model) finish() {
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
