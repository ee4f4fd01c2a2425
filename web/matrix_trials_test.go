package web

import "hongbao/web/wire"

// verdicts holds the code with which a command must answer each kind of user; 0: it must succeed. The scope admin and
// being a guest make no difference in rooms; see subjects.
type verdicts struct {
	stranger, hidden wire.Code // was never in the room: public, private
	former, expelled wire.Code // was in the room and left: public, private
	member, muted    wire.Code
	banned           wire.Code
	admin, owner     wire.Code

	// of a direct room
	third, gone, one wire.Code // in a direct room: was never in it, has left it, is in it
}

// Rows of codes that several commands share.
var (
	everyone = verdicts{}
	inside   = verdicts{stranger: 1002, hidden: 1001, former: 1002, expelled: 1002, banned: 1004, third: 1001, gone: 1002}
	writers  = inside.with(func(v *verdicts) { v.muted = 1003 })
	leaders  = inside.with(func(v *verdicts) { v.member, v.muted, v.one = 103, 103, 103 })
	owners   = leaders.with(func(v *verdicts) { v.admin = 103 })
	nobody   = owners.with(func(v *verdicts) { v.owner = 103 })
	absent   = verdicts{1001, 1001, 1001, 1001, 1001, 1001, 1001, 1001, 1001, 1001, 1001, 1001}
	// A user that was never in the packet's room gets "not found", even if the room is public.
	packets = inside.with(func(v *verdicts) { v.stranger = 1001 })
)

func (v verdicts) with(change func(v *verdicts)) verdicts {
	change(&v)
	return v
}

// trial is one variant of a command. Every subject runs it.
type trial struct {
	name    string // the method; a variant's name follows a slash
	before  func(c *cell)
	request func(c *cell) any
	want    verdicts
}

// trials holds all commands of members. A method without a trial fails the test.
var trials = []trial{
	{"create_room", nil, func(c *cell) any { return wire.CreateRoomRequest{Key: "k-" + c.name, Name: "n", Kind: "public"} }, everyone},
	{"direct", nil, func(c *cell) any { return wire.DirectRequest{User: c.other.User.ID} }, everyone},
	{"rooms", nil, func(*cell) any { return wire.RoomsRequest{} }, everyone},
	{"find_rooms", nil, func(*cell) any { return wire.FindRoomsRequest{} }, everyone},
	{"report", nil, func(c *cell) any {
		return wire.ReportRequest{Key: "k-" + c.name, Room: c.room, User: c.other.User.ID, Reason: "spam"}
	}, inside},
	{"reports", nil, func(*cell) any { return wire.ReportsRequest{Side: "reporter"} }, everyone},
	{"appeal", nil, func(*cell) any { return wire.AppealRequest{Report: "none", Text: "no"} }, absent},
	{"mentions", nil, func(*cell) any { return wire.MentionsRequest{} }, everyone},
	{"search", nil, func(c *cell) any { return wire.SearchRequest{Words: "hello", Room: c.room} }, inside},
	{"begin_file", nil, func(c *cell) any {
		return wire.BeginFileRequest{Room: c.room, Kind: "file", Name: "a", Size: 1}
	}, writers},
	{"file_state", nil, func(c *cell) any { return wire.FileRequest{Room: c.room, File: "none"} }, absent},
	{"cancel_file", nil, func(c *cell) any { return wire.FileRequest{Room: c.room, File: "none"} }, absent},
	{"file_links", nil, func(c *cell) any { return wire.FileLinksRequest{Room: c.room, Files: []string{"none"}} }, inside},
	{"packets", nil, func(*cell) any { return wire.PacketsRequest{Direction: "sent"} }, everyone},
	{"wallet", nil, func(*cell) any { return wire.WalletRequest{} }, everyone},
	{"set_own_limits", nil, func(*cell) any { return wire.SetOwnLimitsRequest{Received: new(int64(1_000_000))} }, everyone},

	{"block", nil, func(c *cell) any { return wire.BlockRequest{User: c.outcast.User.ID} }, everyone},
	{"unblock", nil, func(c *cell) any { return wire.UnblockRequest{User: c.outcast.User.ID} }, everyone},
	{"set_contact", nil, func(*cell) any { return wire.SetContactRequest{Contact: "everyone"} }, everyone},
	{"contacts", nil, func(*cell) any { return wire.ContactsRequest{} }, everyone},
	{"users", nil, func(c *cell) any { return wire.UsersRequest{Users: []string{c.other.User.ID}} }, everyone},

	{"push_key", nil, func(*cell) any { return wire.PushKeyRequest{} }, everyone},
	{"subscribe_push", nil, func(*cell) any { return examplePush }, everyone},
	{"unsubscribe_push", nil, func(*cell) any { return wire.UnsubscribePushRequest{Endpoint: "https://push.example/1"} }, everyone},

	{"join", nil, func(c *cell) any { return wire.JoinRequest{Room: c.room} }, verdicts{hidden: 1001, banned: 1004, third: 1001, gone: 103}},
	{"leave", nil, func(c *cell) any { return wire.LeaveRequest{Room: c.room} }, verdicts{stranger: 1002, hidden: 1001, third: 1001}},
	{"members", nil, func(c *cell) any { return wire.MembersRequest{Room: c.room} }, inside},
	{"history", nil, func(c *cell) any { return wire.HistoryRequest{Room: c.room} }, inside},
	{"read", nil, func(c *cell) any { return wire.ReadRequest{Room: c.room} }, inside},
	{"set_room_prefs", nil, func(c *cell) any { return wire.SetRoomPrefsRequest{Room: c.room, Silent: new(true)} }, inside},
	{"presence", nil, func(c *cell) any { return wire.PresenceRequest{Room: c.room} }, inside},
	{"room_packets", nil, func(c *cell) any { return wire.RoomPacketsRequest{Room: c.room, Part: "open"} }, inside},

	{
		"invite", (*cell).letMembersInvite, func(c *cell) any { return wire.InviteRequest{Room: c.room, Users: []string{c.outcast.User.ID}} },
		writers.with(func(v *verdicts) { v.one = 103 }),
	},
	{
		"invite/admins alone", (*cell).letAdminsInvite, func(c *cell) any { return wire.InviteRequest{Room: c.room, Users: []string{c.outcast.User.ID}} },
		leaders.with(func(v *verdicts) { v.muted = 1003 }),
	},
	{
		"invite/a banned one", func(c *cell) { c.letMembersInvite(); c.banOutcast() }, func(c *cell) any { return wire.InviteRequest{Room: c.room, Users: []string{c.outcast.User.ID}} },
		writers.with(func(v *verdicts) { v.member, v.admin, v.owner, v.one = 1004, 1004, 1004, 103 }),
	},
	{"create_link", (*cell).letMembersInvite, func(c *cell) any { return wire.CreateLinkRequest{Room: c.room} }, writers.with(func(v *verdicts) { v.one = 103 })},
	{
		"create_link/admins alone", (*cell).letAdminsInvite, func(c *cell) any { return wire.CreateLinkRequest{Room: c.room} },
		leaders.with(func(v *verdicts) { v.muted = 1003 }),
	},
	{"links", nil, func(c *cell) any { return wire.LinksRequest{Room: c.room} }, inside},
	{"revoke_link", (*cell).makeLink, func(c *cell) any { return wire.RevokeLinkRequest{Room: c.room, Link: c.link.ID} }, inside},
	{"join_link", (*cell).makeLink, func(c *cell) any { return wire.JoinLinkRequest{Code: c.code} }, verdicts{banned: 1004, third: 1001, gone: 1001}},
	{"join_requests", nil, func(c *cell) any { return wire.JoinRequestsRequest{Room: c.room} }, leaders},
	{"answer_request", (*cell).askOutcast, func(c *cell) any {
		return wire.AnswerRequestRequest{Room: c.room, User: c.outcast.User.ID, Admit: true}
	}, leaders},
	{"answer_request/refuse", (*cell).askOutcast, func(c *cell) any {
		return wire.AnswerRequestRequest{Room: c.room, User: c.outcast.User.ID}
	}, leaders},
	{"rules", nil, func(c *cell) any { return wire.RulesRequest{Room: c.room} }, leaders},
	{"set_rules", nil, func(c *cell) any {
		return wire.SetRulesRequest{Room: c.room, Rules: []wire.Rule{{Kind: "words", Words: []string{"spam"}}}}
	}, leaders},
	{"set_rules/try", nil, func(c *cell) any { return wire.SetRulesRequest{Room: c.room, Rules: []wire.Rule{}, Try: true} }, leaders},
	{"held_texts", nil, func(c *cell) any { return wire.HeldTextsRequest{Room: c.room} }, leaders},
	{"answer_text", (*cell).holdText, func(c *cell) any {
		return wire.AnswerTextRequest{Room: c.room, ID: c.held, Admit: true}
	}, leaders},
	{"kick", nil, func(c *cell) any { return wire.KickRequest{Room: c.room, User: c.other.User.ID} }, leaders},
	{"kick/for good", nil, func(c *cell) any { return wire.KickRequest{Room: c.room, User: c.other.User.ID, Ban: true} }, leaders},
	{"kick/admin", (*cell).promoteOther, func(c *cell) any { return wire.KickRequest{Room: c.room, User: c.other.User.ID} }, owners},
	{"kick/owner", nil, func(c *cell) any { return wire.KickRequest{Room: c.room, User: c.owner.User.ID} }, nobody},
	{"kick/oneself", nil, func(c *cell) any { return wire.KickRequest{Room: c.room, User: c.me.User.ID} }, nobody},
	{"unban", (*cell).banOutcast, func(c *cell) any { return wire.UnbanRequest{Room: c.room, User: c.outcast.User.ID} }, leaders},
	{"mute", nil, func(c *cell) any { return wire.MuteRequest{Room: c.room, User: c.other.User.ID, Seconds: 9} }, leaders},
	{"mute/admin", (*cell).promoteOther, func(c *cell) any { return wire.MuteRequest{Room: c.room, User: c.other.User.ID, Seconds: 9} }, owners},
	{"mute/owner", nil, func(c *cell) any { return wire.MuteRequest{Room: c.room, User: c.owner.User.ID} }, nobody},
	{"set_role", nil, func(c *cell) any { return wire.SetRoleRequest{Room: c.room, User: c.other.User.ID, Role: "admin"} }, owners},
	{"set_role/hand over", nil, func(c *cell) any { return wire.SetRoleRequest{Room: c.room, User: c.other.User.ID, Role: "owner"} }, owners},
	{"update_room", nil, func(c *cell) any { return wire.UpdateRoomRequest{Room: c.room, Name: new("other")} }, leaders},
	{"update_room/settings", nil, func(c *cell) any {
		return wire.UpdateRoomRequest{Room: c.room, Invite: "admins", Guests: new(false)}
	}, leaders},
	{"delete_room", nil, func(c *cell) any { return wire.DeleteRoomRequest{Room: c.room} }, owners},

	{"send", nil, func(c *cell) any { return wire.SendRequest{Room: c.room, Key: "s-" + c.name, Text: "x"} }, writers},
	{"edit", (*cell).sayMyself, func(c *cell) any { return wire.EditRequest{Room: c.room, Seq: c.seq, Text: "y"} }, writers},
	{
		"edit/another's", (*cell).sayOther, func(c *cell) any { return wire.EditRequest{Room: c.room, Seq: c.seq, Text: "y"} },
		nobody.with(func(v *verdicts) { v.muted = 1003 }),
	},
	{"recall", (*cell).sayMyself, func(c *cell) any { return wire.RecallRequest{Room: c.room, Seq: c.seq} }, inside},
	{"recall/another's", (*cell).sayOther, func(c *cell) any { return wire.RecallRequest{Room: c.room, Seq: c.seq} }, leaders},
	{"react", (*cell).sayOther, func(c *cell) any { return wire.ReactRequest{Room: c.room, Seq: c.seq, Emoji: "👍", On: true} }, writers},

	{"send_packet", nil, func(c *cell) any {
		return wire.SendPacketRequest{Room: c.room, Key: "p-" + c.name, Total: 5, Count: new(5)}
	}, writers},
	{"grab", (*cell).packetOther, func(c *cell) any { return wire.GrabRequest{Packet: c.packet} }, packets.with(func(v *verdicts) { v.banned = 1002 })},
	{
		"grab/again", (*cell).grabMyself, func(c *cell) any { return wire.GrabRequest{Packet: c.packet} },
		verdicts{stranger: 1001, hidden: 1001, third: 1001},
	},
	{"packet", (*cell).packetOther, func(c *cell) any { return wire.PacketRequest{Packet: c.packet} }, packets},
	{
		"cancel_packet", (*cell).packetMyself, func(c *cell) any { return wire.CancelPacketRequest{Packet: c.packet} },
		verdicts{stranger: 1001, hidden: 1001, third: 1001},
	},
	{
		"cancel_packet/another's", (*cell).packetOther, func(c *cell) any { return wire.CancelPacketRequest{Packet: c.packet} },
		packets.with(func(v *verdicts) { v.member, v.muted, v.admin, v.owner, v.one = 103, 103, 103, 103, 103 }),
	},
}
