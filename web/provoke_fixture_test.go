package web

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/web/user/api"
	"hongbao/web/wire"
)

// errorFixture is a server with rooms and packets in which every error can be caused. The caller is ann. Each room is named
// after ann's relation to it. Bob owns all rooms but one.
type errorFixture struct {
	*testServer

	t       *testing.T
	e       wire.Encoding
	faults  *faults
	clients map[string]*rawClient // by user, all connected
	last    uint32                // id of the last command

	rooms map[string]string

	reported                     string // report of ann that waits
	said, heard, taken, crowded  int64  // seqs of texts in the rooms plain and mine: by ann, by bob, a recalled one, one with 50 emojis
	open, others, locked         string // packets in the room plain: by bob, by bob but not for ann, by bob with a passphrase
	whole, mine                  string // packets by ann in the room plain: one without a grab, one with a grab
	left, banned                 string // packets in the rooms left and banned
	full                         string // a room of the user full
	code, closedCode, bannedCode string // invite links of the rooms mine, outside without guests, and banned
	sentFile                     string // file that ann has sent in the room plain
	early                        string // packet by bob that opens later
	held                         string // id of a text in the room ruled that waits, and whose author has left
	earlier                      string // packet by bob for those that were in the room later before ann
}

// deniesSuspect denies all commands of one user.
var deniesSuspect = &fakeHooks{answer: func(q api.Question) (api.Verdict, error) {
	if q.User.ID == "suspect" {
		return denies(q)
	}
	return api.Verdict{}, nil
}}

const (
	maxUserRooms = 12 // largest number of rooms for a user, and of rooms that the user has not chosen
	maxBlocks    = 2
)

func newErrorFixture(t *testing.T, e wire.Encoding, change ...func(*Options)) *errorFixture {
	t.Helper()
	engines := newTestEngines(t)
	s := &errorFixture{t: t, e: e, faults: engines.faulty(), clients: map[string]*rawClient{}, rooms: map[string]string{"none": "none"}}
	engines.packets.DayLimits.Received = redpacket.Limit{On: true, Usual: redpacket.NoLimit}
	engines.rooms.Limits = chat.Limits{Rooms: maxUserRooms, Blocks: maxBlocks, EditWindow: time.Nanosecond}
	s.testServer = engines.open(t, append([]func(*Options){func(o *Options) {
		o.Alone, o.Guests, o.Hooks = true, Guests{Key: testGuestKey}, deniesSuspect
	}, withPush(t)}, change...)...)
	s.signIn(t, "suspect", 0)
	ann, bob, full := s.signIn(t, "ann", 10_000), s.signIn(t, "bob", 10_000), s.signIn(t, "full", 0)
	for i := range maxUserRooms {
		s.full = s.room(t, full, fmt.Sprint("full ", i)).ID
	}
	host := s.signIn(t, "host", 0)
	s.signIn(t, "cold", 100)
	if _, err := s.packets.FreezeWallet(t.Context(), "cold", true); err != nil {
		t.Fatal(err)
	}
	if _, err := s.packets.SetOwnLimits(t.Context(), "cold", redpacket.OwnLimits{Received: new(int64(0))}); err != nil {
		t.Fatal(err)
	}
	for i := range maxUserRooms {
		request := wire.CreateRoomRequest{Key: fmt.Sprint("of-full-", i), Name: "of full", Kind: "public", Members: []string{"full"}}
		call[wire.CreateRoomReply](t, s.testServer, host, "create_room", request)
	}
	for name, kind := range map[string]string{
		"plain": "public", "outside": "public", "left": "public", "muted": "public", "banned": "public", "later": "public", "frozen": "public", "private": "private", "expelled": "private",
	} {
		request := wire.CreateRoomRequest{Key: "r-" + name, Name: name, Kind: kind, Members: []string{"ann", "suspect"}}
		if name == "plain" {
			request.Members = []string{"ann", "cold", "suspect"}
		}
		if name == "outside" || name == "private" || name == "later" {
			request.Members = nil
		}
		s.rooms[name] = call[wire.CreateRoomReply](t, s.testServer, bob, "create_room", request).Room.ID
	}
	s.rooms["mine"] = s.room(t, ann, "mine").ID
	s.rooms["direct"] = call[wire.DirectReply](t, s.testServer, ann, "direct", wire.DirectRequest{User: "bob"}).Room.ID
	s.speak(ann, bob)
	s.sendPackets(ann, bob)
	call[wire.LeaveReply](t, s.testServer, ann, "leave", wire.LeaveRequest{Room: s.rooms["left"]})
	shy := s.signIn(t, "shy", 0)
	s.rooms["deserted"] = call[wire.DirectReply](t, s.testServer, ann, "direct", wire.DirectRequest{User: "shy"}).Room.ID
	s.say(t, ann, s.rooms["deserted"], "before the block")
	call[wire.BlockReply](t, s.testServer, shy, "block", wire.BlockRequest{User: "ann"})
	for i := range maxBlocks {
		call[wire.BlockReply](t, s.testServer, full, "block", wire.BlockRequest{User: fmt.Sprint("u", i)})
	}
	call[wire.KickReply](t, s.testServer, bob, "kick", wire.KickRequest{Room: s.rooms["expelled"], User: "ann"})
	call[wire.UpdateRoomReply](t, s.testServer, bob, "update_room", wire.UpdateRoomRequest{Room: s.rooms["outside"], Guests: new(false)})
	for code, of := range map[*string]struct {
		room string
		by   api.Caller
	}{&s.code: {"mine", ann}, &s.closedCode: {"outside", bob}, &s.bannedCode: {"banned", bob}} {
		*code = call[wire.CreateLinkReply](t, s.testServer, of.by, "create_link", wire.CreateLinkRequest{Room: s.rooms[of.room]}).Code
	}
	call[wire.CreateLinkReply](t, s.testServer, ann, "create_link", wire.CreateLinkRequest{Room: s.rooms["mine"], Key: "link-mine", MaxUses: 3})
	approved := call[wire.CreateLinkReply](t, s.testServer, ann, "create_link", wire.CreateLinkRequest{Room: s.rooms["mine"], Approval: true}).Code
	call[wire.LeaveReply](t, s.testServer, full, "leave", wire.LeaveRequest{Room: s.full})
	call[wire.JoinLinkReply](t, s.testServer, full, "join_link", wire.JoinLinkRequest{Code: approved})
	s.full = s.room(t, full, "full again").ID
	s.say(t, bob, s.rooms["frozen"], "before the frost")
	if _, err := s.chat.UpdateRoom(t.Context(), chat.System, s.rooms["frozen"], chat.RoomChange{Frozen: new(true)}); err != nil {
		t.Fatal(err)
	}
	s.holdText(ann)
	call[wire.MuteReply](t, s.testServer, bob, "mute", wire.MuteRequest{Room: s.rooms["muted"], User: "ann", Seconds: 3600})
	call[wire.KickReply](t, s.testServer, bob, "kick", wire.KickRequest{Room: s.rooms["banned"], User: "ann", Ban: true})
	return s
}

func (s *errorFixture) speak(ann, bob api.Caller) {
	s.sentFile = s.upload(s.t, ann, s.rooms["plain"], "a report").ID
	call[wire.SendReply](s.t, s.testServer, ann, "send", wire.SendRequest{Room: s.rooms["plain"], Key: "with-file", Files: []string{s.sentFile}})
	s.said = s.say(s.t, ann, s.rooms["plain"], "ann's").Seq
	s.heard = s.say(s.t, bob, s.rooms["plain"], "bob's").Seq
	s.reported = call[wire.ReportReply](s.t, s.testServer, ann, "report", wire.ReportRequest{Key: "report", Room: s.rooms["plain"], User: "bob", Reason: "other"}).Report
	s.taken = s.say(s.t, ann, s.rooms["mine"], "taken back").Seq
	call[wire.SeqReply](s.t, s.testServer, ann, "recall", wire.RecallRequest{Room: s.rooms["mine"], Seq: s.taken})
	s.crowded = s.say(s.t, bob, s.rooms["plain"], "crowded").Seq
	for i := range 50 {
		request := wire.ReactRequest{Room: s.rooms["plain"], Seq: s.crowded, Emoji: string(rune('😀' + i)), On: true}
		call[wire.ReactReply](s.t, s.testServer, bob, "react", request)
	}
}

// holdText makes a rule hold a text whose author then has to leave the room.
func (s *errorFixture) holdText(ann api.Caller) {
	request := wire.CreateRoomRequest{Key: "r-ruled", Name: "ruled", Kind: "public", Members: []string{"cold"}}
	s.rooms["ruled"] = call[wire.CreateRoomReply](s.t, s.testServer, ann, "create_room", request).Room.ID
	call[wire.SetRulesReply](s.t, s.testServer, ann, "set_rules", wire.SetRulesRequest{Room: s.rooms["ruled"], Rules: []wire.Rule{{Kind: "words", Do: "hold", Words: []string{"spam"}}}})
	refused(s.t, s.testServer, s.signIn(s.t, "cold", 0), "send", wire.SendRequest{Room: s.rooms["ruled"], Key: "held", Text: "spam"}, wire.CodeDenied)
	s.held = call[wire.HeldTextsReply](s.t, s.testServer, ann, "held_texts", wire.HeldTextsRequest{Room: s.rooms["ruled"]}).Texts[0].ID
	call[wire.KickReply](s.t, s.testServer, ann, "kick", wire.KickRequest{Room: s.rooms["ruled"], User: "cold"})
}

func (s *errorFixture) sendPackets(ann, bob api.Caller) {
	send := func(by api.Caller, room, key string, change func(r *wire.SendPacketRequest)) string {
		r := wire.SendPacketRequest{Room: s.rooms[room], Key: key, Total: 10, Count: new(1)}
		change(&r)
		return call[wire.SendPacketReply](s.t, s.testServer, by, "send_packet", r).Packet.ID
	}
	as := func(*wire.SendPacketRequest) {}
	s.open, s.whole, s.mine = send(bob, "plain", "open", as), send(ann, "plain", "whole", as), send(ann, "plain", "mine", func(r *wire.SendPacketRequest) { r.Count = new(2) })
	s.left, s.banned = send(bob, "left", "left", as), send(bob, "banned", "banned", as)
	s.others = send(bob, "plain", "others", func(r *wire.SendPacketRequest) { r.To = []string{"bob"} })
	s.locked = send(bob, "plain", "locked", func(r *wire.SendPacketRequest) { r.Passphrase = "sesame" })
	s.early = send(bob, "plain", "early", func(r *wire.SendPacketRequest) { r.OpensAt = new(time.Now().Add(time.Hour).UnixMilli()) })
	s.earlier = send(bob, "later", "earlier", func(r *wire.SendPacketRequest) { r.EarlierMembers = true })
	call[wire.JoinReply](s.t, s.testServer, ann, "join", wire.JoinRequest{Room: s.rooms["later"]})
	call[wire.GrabReply](s.t, s.testServer, bob, "grab", wire.GrabRequest{Packet: s.mine})
}

// ask runs a command over the user's socket and returns its error. The zero Error means success.
func (s *errorFixture) ask(t *testing.T, addr, user, method string, data json.RawMessage) wire.Error {
	t.Helper()
	c := s.clients[user]
	if c == nil {
		if strings.HasPrefix(user, chat.GuestPrefix) {
			c = dial(t, addr, s.e)
			c.connect(guestToken(t, user), "{}")
		} else {
			c, _ = connected(t, addr, s.e, user)
		}
		s.clients[user] = c
	}
	s.last++
	c.send(fmt.Sprintf(`{"id":%d,"rpc":{"method":%q,"data":%s}}`, s.last+1, method, data))
	r := c.reply(s.last + 1)
	if r.Error == nil {
		return wire.Error{}
	}
	return wire.Error{Code: wire.Code(r.Error.Code), Message: r.Error.Message, Temporary: r.Error.Temporary}
}

// request returns a request for the method that would succeed if the room and the packet allowed it.
func (s *errorFixture) request(method, room, packet string) object {
	return goodRequest(method, requestNames{room: room, packet: packet, user: "bob", invited: "bob", blocked: "cyn", asking: "full", code: s.code})
}

// requestNames are the ids that requests name.
type requestNames struct{ room, packet, user, invited, blocked, asking, code string }

// goodRequest returns a valid request of each command. Tests of authorisation, errors and bad input begin with it.
func goodRequest(method string, n requestNames) object {
	return map[string]object{
		"create_room":      {"key": "new", "name": "new", "kind": "public"},
		"direct":           {"user": n.user},
		"block":            {"user": n.blocked},
		"unblock":          {"user": n.blocked},
		"set_contact":      {"contact": "everyone"},
		"contacts":         {},
		"users":            {"users": []string{n.user}},
		"join":             {"room": n.room},
		"leave":            {"room": n.room},
		"rooms":            {},
		"find_rooms":       {},
		"invite":           {"room": n.room, "users": []string{n.invited}},
		"create_link":      {"room": n.room},
		"links":            {"room": n.room},
		"revoke_link":      {"room": n.room, "link": "l"},
		"join_link":        {"code": n.code},
		"join_requests":    {"room": n.room},
		"answer_request":   {"room": n.room, "user": n.asking, "admit": true},
		"rules":            {"room": n.room},
		"set_rules":        {"room": n.room, "rules": []any{}},
		"held_texts":       {"room": n.room},
		"answer_text":      {"room": n.room, "id": "none"},
		"kick":             {"room": n.room, "user": n.user},
		"unban":            {"room": n.room, "user": n.user},
		"set_role":         {"room": n.room, "user": n.user, "role": "member"},
		"mute":             {"room": n.room, "user": n.user, "seconds": 1},
		"update_room":      {"room": n.room, "name": "new"},
		"set_room_prefs":   {"room": n.room, "pinned": true},
		"delete_room":      {"room": n.room},
		"members":          {"room": n.room},
		"send":             {"room": n.room, "key": "new", "text": "x"},
		"edit":             {"room": n.room, "seq": 1, "text": "x"},
		"recall":           {"room": n.room, "seq": 1},
		"react":            {"room": n.room, "seq": 1, "emoji": "👍", "on": true},
		"history":          {"room": n.room},
		"mentions":         {},
		"search":           {"words": "hello", "room": n.room},
		"begin_file":       {"room": n.room, "kind": "file", "name": "a", "size": 1},
		"file_state":       {"room": n.room, "file": "mine"},
		"cancel_file":      {"room": n.room, "file": "mine"},
		"file_links":       {"room": n.room, "files": []string{"mine"}},
		"report":           {"key": "new", "room": n.room, "user": n.user, "reason": "spam"},
		"reports":          {"side": "reporter"},
		"appeal":           {"report": "none", "text": "no"},
		"read":             {"room": n.room, "seq": 1},
		"presence":         {"room": n.room},
		"send_packet":      {"room": n.room, "key": "new", "total": 10, "count": 3},
		"grab":             {"packet": n.packet},
		"packet":           {"packet": n.packet},
		"cancel_packet":    {"packet": n.packet},
		"packets":          {"direction": "sent"},
		"room_packets":     {"room": n.room},
		"wallet":           {},
		"set_own_limits":   {"received": 1_000_000},
		"push_key":         {},
		"subscribe_push":   examplePush,
		"unsubscribe_push": {"endpoint": "https://push.example/1"},
	}[method]
}

// changed returns a copy of an object with some fields replaced. fields are names and values.
func changed(o object, fields ...any) object {
	o = maps.Clone(o)
	for i := 0; i+1 < len(fields); i += 2 {
		o[fields[i].(string)] = fields[i+1]
	}
	return o
}

func long(n int) string { return strings.Repeat("包", n) }
