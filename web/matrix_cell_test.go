package web

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/web/user/api"
	"hongbao/web/user/auth"
	"hongbao/web/wire"
)

// cell is one test of a command by one subject, in a room that was created for it. "me" is the subject.
type cell struct {
	t *testing.T
	s *testServer

	kind    string // of the room: public, private or direct
	name    string // unique to this cell
	room    string
	owner   api.Caller // may be me; in a direct room the other user
	other   api.Caller // a member
	outcast api.Caller // a user that is not in the room
	me      api.Caller
	token   string // of me
	was     bool   // the subject is or was in the room

	seq    int64  // of the text that the command is about
	packet string // id of the packet that the command is about
	link   wire.Link
	code   string // of the link that the command is about
	held   string // id of the held text that the command is about
}

// prepare creates a room of the kind, makes the subject what its name says (such as muted), and creates what the trial
// needs.
func (w *permissionServer) prepare(t *testing.T, x trial, i int, kind string) *cell {
	t.Helper()
	who := subjects[i].name
	trial := strings.NewReplacer("/", ".", " ", "-", "'", "").Replace(x.name)
	user := func(name string) api.Caller { return w.signIn(t, trial+"."+strings.ReplaceAll(name, " ", "-"), 1000) }
	c := &cell{
		t: t, s: w.testServer, kind: kind, name: trial + "-" + kind + "-" + strconv.Itoa(i), other: user("other" + strconv.Itoa(i)), outcast: user("outcast"),
		me: user(who), was: who != "outsider" && who != "service admin",
	}
	c.token = goodToken(t, c.me.User.ID)
	switch who {
	case "service admin":
		c.token = mint(t, auth.Claims{User: c.me.User.ID, Scope: auth.DefaultAdminScope}, time.Hour)
	case "guest":
		c.me, c.token = api.Caller{User: chat.User{ID: w.guest.User.ID, Name: w.guest.User.Name}}, w.guest.Token
	case "expired":
		c.token = mint(t, auth.Claims{User: c.me.User.ID}, -time.Minute)
	case "revoked":
		c.me, c.token = api.Caller{User: chat.User{ID: "revoked", Name: "revoked"}}, w.revoked
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

// make creates the room with all users that are or were its members.
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

// stand turns the subject, so far a plain member, into what the given name says, such as muted or admin.
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

// myself returns the subject if the subject is or was in the room, else another member. It is the sender of texts and
// packets that the subject would own.
func (c *cell) myself() api.Caller {
	if c.was {
		return c.me
	}
	return c.other
}

// promoteOther makes the other member an admin. In a direct room it does nothing, because nobody can be promoted or
// banned there.
func (c *cell) promoteOther() {
	if c.kind == "direct" {
		return
	}
	call[wire.SetRoleReply](c.t, c.s, c.owner, "set_role", wire.SetRoleRequest{Room: c.room, User: c.other.User.ID, Role: "admin"})
}

func (c *cell) letMembersInvite() { c.letInvite("members") }

func (c *cell) letAdminsInvite() { c.letInvite("admins") }

// letInvite sets which members may invite. In a direct room it does nothing.
func (c *cell) letInvite(inviters string) {
	if c.kind != "direct" {
		call[wire.UpdateRoomReply](c.t, c.s, c.owner, "update_room", wire.UpdateRoomRequest{Room: c.room, Invite: inviters})
	}
}

// makeLink makes an invite link. A direct room has none: there, the code is of the right form and leads nowhere.
func (c *cell) makeLink() {
	if c.link.ID, c.code = "none", c.room+".00000000000000000000"; c.kind == "direct" {
		return
	}
	made := call[wire.CreateLinkReply](c.t, c.s, c.owner, "create_link", wire.CreateLinkRequest{Room: c.room})
	c.link, c.code = made.Link, made.Code
}

// askOutcast makes the outcast ask to enter the room.
func (c *cell) askOutcast() {
	if c.kind == "direct" {
		return
	}
	made := call[wire.CreateLinkReply](c.t, c.s, c.owner, "create_link", wire.CreateLinkRequest{Room: c.room, Approval: true})
	if got := call[wire.JoinLinkReply](c.t, c.s, c.outcast, "join_link", wire.JoinLinkRequest{Code: made.Code}); !got.Waiting {
		c.t.Fatalf("the outcast got %+v", got)
	}
}

// holdText makes a rule hold a text of the other member. A direct room has no rules.
func (c *cell) holdText() {
	if c.held = "none"; c.kind == "direct" {
		return
	}
	call[wire.SetRulesReply](c.t, c.s, c.owner, "set_rules", wire.SetRulesRequest{Room: c.room, Rules: []wire.Rule{{Kind: "words", Do: "hold", Words: []string{"spam"}}}})
	refused(c.t, c.s, c.other, "send", wire.SendRequest{Room: c.room, Key: c.room, Text: "spam"}, wire.CodeDenied)
	c.held = call[wire.HeldTextsReply](c.t, c.s, c.owner, "held_texts", wire.HeldTextsRequest{Room: c.room}).Texts[0].ID
}

func (c *cell) banOutcast() {
	if c.kind == "direct" {
		return
	}
	call[wire.KickReply](c.t, c.s, c.owner, "kick", wire.KickRequest{Room: c.room, User: c.outcast.User.ID, Ban: true})
}

func (c *cell) sayMyself() { c.say(c.myself()) }

func (c *cell) sayOther() { c.say(c.other) }

func (c *cell) say(who api.Caller) {
	request := wire.SendRequest{Room: c.room, Key: "text-" + c.name, Text: "x"}
	c.seq = call[wire.SendReply](c.t, c.s, who, "send", request).Seq
}

func (c *cell) packetMyself() { c.sendPacket(c.myself()) }

func (c *cell) packetOther() { c.sendPacket(c.other) }

func (c *cell) sendPacket(who api.Caller) {
	request := wire.SendPacketRequest{Room: c.room, Key: "packet-" + c.name, Total: 5, Count: new(5)}
	c.packet = call[wire.SendPacketReply](c.t, c.s, who, "send_packet", request).Packet.ID
}

func (c *cell) grabMyself() {
	c.packetOther()
	if won := call[wire.GrabReply](c.t, c.s, c.myself(), "grab", wire.GrabRequest{Packet: c.packet}); won.Outcome != "won" {
		c.t.Fatalf("grabbed: %+v", won)
	}
}
