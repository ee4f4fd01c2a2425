package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"hongbao/web/client/model"
	"hongbao/web/wire"
)

// user is a client that acts by itself while the gate is open.
type user struct {
	session
	*journal

	name, id, token string
	homes           [2]string // the rooms that the user never leaves
	lobby           string    // a room that the user joins and leaves; "": none
	texts           int       // number of texts sent
	packets         int

	period time.Duration // mean time between two actions
	gate   *gate
	record *record
}

const (
	actions  = 25  // of all users together, in a second; grabs not counted
	grabRate = 0.5 // part of the members that grab at a packet

	// A packet with this number of shares is to be cancelled: few grab at it.
	cancelledCount = 13
	cancelledRate  = 0.03
)

// act does one thing after the other until ctx ends.
func (u *user) act(ctx context.Context) {
	for {
		if pause(ctx, rand.N(2*u.period)) != nil {
			return
		}
		select {
		case <-u.gate.whenOpen():
		case <-ctx.Done():
			return
		}
		switch p := rand.IntN(100); {
		case p < 55:
			u.say(ctx)
		case p < 75:
			u.sendPacket(ctx, []int{2 + rand.IntN(11), 2 + rand.IntN(11), 60}[rand.IntN(3)]) // 60 are more than grab
		case p < 80:
			u.cancel(ctx)
		case p < 85:
			u.sayAgain(ctx)
		case p < 95:
			u.moveLobby(ctx)
		default:
			u.grabOld(ctx)
		}
	}
}

// do sends a request while the gate is open, and returns false if it has no final answer. Codes are refusals that may come. Those of
// missing things may come only if SQL may have lost something.
func (u *user) do(ctx context.Context, what string, request func() error, codes ...wire.Code) bool {
	leave, ok := u.gate.enter(u.name + ": " + what)
	if !ok {
		return false
	}
	err := request()
	switch code := codeOf(err); {
	case ctx.Err() != nil:
		return false // the world ends
	case err == nil:
	case code == 0:
		u.record.refused(fmt.Sprintf("%s: %s: %v", u.name, what, err))
	default:
		missing := code == wire.CodeNotFound || code == wire.CodeNotMember
		if !slices.Contains(codes, code) || missing && !u.record.mayLose() {
			u.record.refused(fmt.Sprintf("%s: %s: %v", u.name, what, err))
		}
	}
	leave()
	return true
}

func (u *user) say(ctx context.Context) {
	u.texts++
	room := u.homes[u.texts%2]
	key := fmt.Sprintf("%s-text-%d", u.name, u.texts)
	u.do(ctx, "send "+key, func() error {
		var reply wire.SendReply
		called := now()
		err := u.call(ctx, "send", wire.SendRequest{Room: room, Key: key, Text: key}, &reply)
		if err == nil {
			u.record.text(toldText{told{called, now()}, room, key, u.id, reply.ID, reply.Seq})
		}
		return err
	})
}

// sayAgain repeats the last text. The answer must be the same.
func (u *user) sayAgain(ctx context.Context) {
	var t toldText
	u.record.note(func() { t = u.record.lastTexts[u.id] })
	if t.key == "" {
		return
	}
	u.do(ctx, "repeat "+t.key, func() error {
		var reply wire.SendReply
		called := now()
		err := u.call(ctx, "send", wire.SendRequest{Room: t.room, Key: t.key, Text: t.key}, &reply)
		if err == nil && (!reply.Dup || reply.Seq != t.seq || reply.ID != t.id) {
			u.record.repeated(t, toldText{told{called, now()}, t.room, t.key, u.id, reply.ID, reply.Seq})
		}
		return err
	})
}

func (u *user) sendPacket(ctx context.Context, count int) {
	u.packets++
	room := u.homes[u.packets%2]
	request := wire.SendPacketRequest{
		Room: room, Key: fmt.Sprintf("%s-packet-%d", u.name, u.packets), Mode: "lucky", Count: &count, TTLS: new(int64(5)), // the least
	}
	if rand.IntN(4) == 0 {
		request.Mode = "equal"
	}
	if count != cancelledCount {
		switch kind := rand.IntN(16); {
		case kind < 4:
			request.TTLS, request.WindowS, request.Rest = nil, new(int64(3)), []string{"refund", "share"}[rand.IntN(2)]
		case kind == 4:
			count *= 3
			request.TTLS, request.Waves, request.OverS, request.MaxWins = nil, new(3), new(int64(10)), new(1+rand.IntN(3)) // the least
		case kind < 7:
			request.OpensAt = new(time.Now().UnixMilli() + 500 + rand.Int64N(2000))
		case kind < 9:
			request.HoldFor, request.HoldS = []string{u.id}, new(int64(2))
		}
	}
	request.Total = int64(count) * (1 + rand.Int64N(50))
	mayBe := []wire.Code{wire.CodeInsufficientBalance}
	if request.OpensAt != nil {
		mayBe = append(mayBe, wire.CodeBadRequest) // during a fault it may arrive when that is in the past
	}
	var reply wire.SendPacketReply
	u.do(ctx, "send_packet "+request.Key, func() error {
		called := now()
		err := u.call(ctx, "send_packet", request, &reply)
		if err == nil {
			p := packetOf(room, reply.Packet)
			t := toldPacket{told{called, now()}, room, request.Key, u.id, p.id, reply.Seq}
			u.record.note(func() {
				u.record.packets = append(u.record.packets, t)
				u.record.commit(p)
				if p.window == 0 && !p.held {
					u.record.history(p).sent = called
					u.record.lastPackets[u.id] = p
				}
			})
		}
		return err
	}, mayBe...)
}

// cancel sends a packet and cancels it after a moment. It is refused if a share was grabbed.
func (u *user) cancel(ctx context.Context) {
	u.sendPacket(ctx, cancelledCount)
	var p packet
	u.record.note(func() { p = u.record.lastPackets[u.id] })
	if p.id == "" || pause(ctx, rand.N(2*time.Second)) != nil {
		return
	}
	u.do(ctx, "cancel_packet "+p.id, func() error {
		u.record.begin(p)
		called := now()
		err := u.call(ctx, "cancel_packet", wire.CancelPacketRequest{Packet: p.id}, new(wire.CancelPacketReply))
		u.record.noteMissing(p, err)
		if err == nil || codeOf(err) != 0 {
			u.record.cancelAnswered(p, u.id, called, err == nil)
		}
		return err
	}, wire.CodePacketFinished, wire.CodeConflict, wire.CodeNotFound)
}

// moveLobby joins the lobby or leaves it.
func (u *user) moveLobby(ctx context.Context) {
	if u.lobby == "" {
		return
	}
	m := membership{u.id, u.lobby}
	var in bool
	u.record.note(func() { in = u.record.memberships[m].in; delete(u.record.memberships, m) })
	method, request, reply := "join", any(wire.JoinRequest{Room: u.lobby}), any(new(wire.JoinReply))
	if in {
		method, request, reply = "leave", wire.LeaveRequest{Room: u.lobby}, new(wire.LeaveReply)
	}
	u.do(ctx, method, func() error {
		called := now()
		err := u.call(ctx, method, request, reply)
		if err == nil {
			u.record.note(func() { u.record.memberships[m] = toldMember{told{called, now()}, !in} })
		}
		return err
	}, wire.CodeNotMember)
}

// hear reacts to a packet that was announced in one of the user's rooms.
func (u *user) hear(ctx context.Context, p packet) {
	u.record.note(func() { u.record.commit(p) })
	switch {
	case p.rain:
		go u.enterRain(ctx, p)
		return
	case p.window > 0:
		go u.enterDraw(ctx, p)
		return
	}
	rate := grabRate
	if p.count == cancelledCount {
		rate = cancelledRate
	}
	if rand.Float64() < rate {
		go u.grabAt(ctx, p)
	}
}

// enterDraw enters a draw some time in its window, or a moment later. A user that hears "entered" must be in the draw.
func (u *user) enterDraw(ctx context.Context, p packet) {
	if pause(ctx, rand.N(time.Duration(p.window)*time.Second*11/10)) != nil {
		return
	}
	u.enter(ctx, p)
}

// enterRain tries to enter the waves of a rain, until it ends.
func (u *user) enterRain(ctx context.Context, p packet) {
	for now := time.Now(); now.UnixMilli() < p.expires; now = time.Now() {
		if pause(ctx, rand.N(3*time.Second)) != nil || !u.enter(ctx, p) {
			return
		}
	}
}

func (u *user) enter(ctx context.Context, p packet) bool {
	return u.do(ctx, "enter "+p.id, func() error {
		called := now()
		g, err := u.grab(ctx, p.id)
		u.record.noteMissing(p, err)
		if err == nil && g.Outcome == model.EnteredDraw {
			u.record.note(func() { u.record.entered[entry{p.id, u.id, g.Wave}] = told{called, now()} })
		}
		return err
	}, wire.CodeNotFound)
}

// grabHeld grabs a share of a packet that holds some.
func (u *user) grabHeld(ctx context.Context, p packet) {
	u.do(ctx, "grab "+p.id, func() error {
		called := now()
		g, err := u.grab(ctx, p.id)
		u.record.noteMissing(p, err)
		if err == nil {
			u.record.heldGrabbed(p, u.id, called, g)
		}
		return err
	}, wire.CodeNotFound)
}

func (u *user) grabAt(ctx context.Context, p packet) {
	if p.held {
		u.grabHeld(ctx, p)
		return
	}
	if wait := time.Until(time.UnixMilli(p.opens)); wait > 0 && pause(ctx, wait+rand.N(400*time.Millisecond)-100*time.Millisecond) != nil {
		return
	}
	u.do(ctx, "grab "+p.id, func() error {
		u.record.begin(p)
		called := now()
		g, err := u.grab(ctx, p.id)
		u.record.noteMissing(p, err)
		if err == nil {
			u.record.grabbed(p, u.id, called, g)
		}
		if codeOf(err) == wire.CodeNotYet {
			u.record.notYet(p)
		}
		return err
	}, wire.CodeNotFound, wire.CodeNotYet)
}

// grabOld grabs at a packet that may have ended, perhaps a second time.
func (u *user) grabOld(ctx context.Context) {
	var p packet
	u.record.note(func() {
		if heard := u.record.heard[u.homes[0]]; len(heard) > 0 {
			p = heard[rand.IntN(len(heard))]
		}
	})
	if p.id != "" {
		u.grabAt(ctx, p)
	}
}
