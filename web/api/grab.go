package api

import (
	"context"

	"hongbao/redpacket"
	"hongbao/web/convert"
	"hongbao/web/wire"
)

// grabCall is the call of a grab.
type grabCall struct {
	request wire.GrabRequest
	reply   wire.GrabReply

	found      redpacket.FoundGrab // the packet and the user's claim; set by FromMemory, or read by run
	fromMemory bool                // found was set by FromMemory
}

func (g *grabCall) decode(data []byte) error { return Decode(data, &g.request) }

func (g *grabCall) answer(ctx context.Context, a *Commands, c Caller) (reply any, err error) {
	result, err := g.run(ctx, a, c)
	g.reply = convert.GrabReply(result)
	return &g.reply, err
}

func (g *grabCall) run(ctx context.Context, a *Commands, c Caller) (_ redpacket.Result, err error) {
	if !g.fromMemory {
		if g.found, err = a.packets.FindGrab(ctx, c.User.ID, g.request.Packet); err != nil {
			return redpacket.Result{}, err
		}
	}
	if !g.found.Finished() {
		if err := a.rates.admitGrab(ctx, c.User.ID); err != nil {
			g.found.Refuse()
			return redpacket.Result{}, err
		}
	}
	return g.found.Run(ctx, g.request.Passphrase, c.Pending)
}

// FromMemory reports whether the request can be answered from memory: it is a grab of a packet that has ended, and both
// the end and the user's membership are cached. Most grabs are such requests. If it returns true, Answer does not
// block.
func (a *Commands) FromMemory(user string, r *Request) bool {
	if r.method != MethodGrab || r.decode() != nil {
		return false
	}
	g, ok := r.call.(*grabCall)
	if !ok {
		return false
	}
	packet, ok := a.packets.Finished(g.request.Packet)
	if !ok {
		return false
	}
	standing, ok := a.chat.CachedStanding(packet.Room(), user)
	if !ok {
		return false
	}
	g.found, g.fromMemory = packet.Find(user, standing), true
	return true
}

// MayPend reports whether the request is one that may be answered "pending", because its commit can take long: a grab.
func (r *Request) MayPend() bool {
	if r.method != MethodGrab {
		return false
	}
	g, ok := r.call.(*grabCall)
	return !ok || !g.fromMemory
}
