package web

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/web/wire"
)

// cell is one trial of one subject in a room made for it.
type cell struct {
	t *testing.T
	s *testServer

	kind    string // of the room
	name    string // of no other cell
	room    string
	owner   Caller // may be me; in a direct room the other one
	other   Caller // a member
	outcast Caller // not in the room
	me      Caller
	token   string // mine
	was     bool   // I was in the room at some time

	seq    int64  // what the trial is about
	packet string // the same
}

// prepare makes a room of the kind, in which the subject stands as his name says, and what the trial wants there.
func (w *authorities) prepare(t *testing.T, x trial, i int, kind string) *cell {
	t.Helper()
	who := subjects[i].name
	trial := strings.NewReplacer("/", ".", " ", "-", "'", "").Replace(x.name)
	user := func(name string) Caller { return w.signIn(t, trial+"."+strings.ReplaceAll(name, " ", "-"), 1000) }
	c := &cell{
		t: t, s: w.testServer, kind: kind, name: trial + "-" + kind + "-" + strconv.Itoa(i), other: user("other" + strconv.Itoa(i)), outcast: user("outcast"),
		me: user(who), was: who != "outsider" && who != "service admin",
	}
	c.token = goodToken(t, c.me.User.ID)
	switch who {
	case "service admin":
		c.token = mint(t, Claims{User: c.me.User.ID, Scope: "admin"}, time.Hour)
	case "guest":
		c.me, c.token = Caller{User: chat.User{ID: w.guest.User.ID, Name: w.guest.User.Name}}, w.guest.Token
	case "expired":
		c.token = mint(t, Claims{User: c.me.User.ID}, -time.Minute)
	case "revoked":
		c.me, c.token = Caller{User: chat.User{ID: "revoked", Name: "revoked"}}, w.revoked
	}
	c.owner = user("owner")
	if who == "owner" {
		c.owner = c.me
	}
	c.make()
	if x.before != nil {
		x.before(c)
	}
	c.stand(who)
	return c
}

// make makes the room. Whoever is to have been in it is in it.
func (c *cell) make() {
	c.t.Helper()
	if c.kind == "direct" {
		peer := c.me
		if !c.was {
			peer = c.outcast
		}
		c.owner = c.other
		c.room = call[wire.DirectReply](c.t, c.s, c.other, "direct", wire.DirectRequest{User: peer.User.ID}).Room.ID
		return
	}
	members := []string{c.other.User.ID}
	if c.was && c.me.User.ID != c.owner.User.ID {
		members = append(members, c.me.User.ID)
	}
	request := wire.CreateRoomRequest{Key: "room-" + c.name, Name: "hall", Kind: c.kind, Members: members}
	c.room = call[wire.CreateRoomReply](c.t, c.s, c.owner, "create_room", request).Room.ID
}

// stand gives the subject, who is a plain member so far, the standing of his name.
func (c *cell) stand(who string) {
	c.t.Helper()
	me := c.me.User.ID
	switch who {
	case "former":
		call[wire.LeaveReply](c.t, c.s, c.me, "leave", wire.LeaveRequest{Room: c.room})
	case "muted":
		call[wire.MuteReply](c.t, c.s, c.owner, "mute", wire.MuteRequest{Room: c.room, User: me, Seconds: 3600})
	case "banned":
		call[wire.KickReply](c.t, c.s, c.owner, "kick", wire.KickRequest{Room: c.room, User: me, Ban: true})
	case "admin":
		call[wire.SetRoleReply](c.t, c.s, c.owner, "set_role", wire.SetRoleRequest{Room: c.room, User: me, Role: "admin"})
	}
}

// myself is the subject, where he can have done something in the room.
func (c *cell) myself() Caller {
	if c.was {
		return c.me
	}
	return c.other
}

// In a direct room nobody can be promoted or banned. There the commands themselves are what is refused.
func (c *cell) promoteOther() {
	if c.kind == "direct" {
		return
	}
	call[wire.SetRoleReply](c.t, c.s, c.owner, "set_role", wire.SetRoleRequest{Room: c.room, User: c.other.User.ID, Role: "admin"})
}

func (c *cell) banOutcast() {
	if c.kind == "direct" {
		return
	}
	call[wire.KickReply](c.t, c.s, c.owner, "kick", wire.KickRequest{Room: c.room, User: c.outcast.User.ID, Ban: true})
}

func (c *cell) sayMyself() { c.say(c.myself()) }

func (c *cell) sayOther() { c.say(c.other) }

func (c *cell) say(who Caller) {
	request := wire.SendRequest{Room: c.room, Key: "text-" + c.name, Text: "x"}
	c.seq = call[wire.SendReply](c.t, c.s, who, "send", request).Seq
}

func (c *cell) packetMyself() { c.sendPacket(c.myself()) }

func (c *cell) packetOther() { c.sendPacket(c.other) }

func (c *cell) sendPacket(who Caller) {
	request := wire.SendPacketRequest{Room: c.room, Key: "packet-" + c.name, Total: 5, Count: new(5)}
	c.packet = call[wire.SendPacketReply](c.t, c.s, who, "send_packet", request).Packet.ID
}

func (c *cell) grabMyself() {
	c.packetOther()
	if won := call[wire.GrabReply](c.t, c.s, c.myself(), "grab", wire.GrabRequest{Packet: c.packet}); won.Outcome != "won" {
		c.t.Fatalf("grabbed: %+v", won)
	}
}
