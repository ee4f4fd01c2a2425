package attacks

import (
	"fmt"
	"net/http"
	"testing"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/web/auth"
	"hongbao/web/wire"
)

// TestMutedMemberInvitesNobody has a muted member, and then a muted admin, bring guests into a room where all members may
// invite. No guest may come in.
func TestMutedMemberInvitesNobody(t *testing.T) {
	t.Parallel()
	server := start(t)
	muted := server.Guest("muted")
	owner, attacker := e2e.Connect(t, server, server.Guest("owner"), false), e2e.Connect(t, server, muted, false)
	room := e2e.Call[wire.CreateRoomReply](owner, "create_room", wire.CreateRoomRequest{
		Key: "room", Name: "room", Kind: "private", Members: []string{muted.User.ID}, Invite: "members",
	}).Room.ID
	for _, role := range []string{"member", "admin"} {
		e2e.Call[wire.SetRoleReply](owner, "set_role", wire.SetRoleRequest{Room: room, User: muted.User.ID, Role: role})
		e2e.Call[wire.MuteReply](owner, "mute", wire.MuteRequest{Room: room, User: muted.User.ID, Seconds: 3600})
		if _, code := invitedGuests(t, server, attacker, room); code != wire.CodeMuted {
			t.Errorf("a muted %s invites: %d %s, want %d", role, code, code.Word(), wire.CodeMuted)
		}
	}
	mustHaveMembers(t, owner, room, 2)
}

// TestPlainMemberFillsNoPrivateRoom has a plain member of a private room bring in guests, which would take the shares of a
// packet. Without a setting only admins invite.
func TestPlainMemberFillsNoPrivateRoom(t *testing.T) {
	t.Parallel()
	server := start(t)
	plain := server.Guest("plain")
	owner, attacker := e2e.Connect(t, server, server.Guest("owner"), false), e2e.Connect(t, server, plain, false)
	room := e2e.Call[wire.CreateRoomReply](owner, "create_room", wire.CreateRoomRequest{
		Key: "room", Name: "room", Kind: "private", Members: []string{plain.User.ID},
	}).Room.ID
	guests, code := invitedGuests(t, server, attacker, room)
	if code != wire.CodeForbidden {
		t.Errorf("a plain member invites: %d %s, want %d", code, code.Word(), wire.CodeForbidden)
	}
	packet := e2e.Call[wire.SendPacketReply](owner, "send_packet", wire.SendPacketRequest{Room: room, Key: "packet", Total: 10, Count: new(10)}).Packet.ID
	for _, guest := range guests {
		mustAnswer(t, server, wire.CodeNotFound.Status(), guest.Token, "commands/grab", wire.GrabRequest{Packet: packet})
	}
	mustHaveMembers(t, owner, room, 2)
}

// invitedGuests signs ten guests in and has the attacker invite them. It returns the code of the refusal.
func invitedGuests(t *testing.T, server *e2e.Server, attacker *e2e.Client, room string) (guests []wire.GuestReply, code wire.Code) {
	t.Helper()
	request := wire.InviteRequest{Room: room}
	for i := range 10 {
		guests = append(guests, server.Guest(fmt.Sprint("robot ", i)))
		request.Users = append(request.Users, guests[i].User.ID)
	}
	_, code = codeOf[wire.InviteReply](t, attacker, "invite", request)
	return guests, code
}

func mustHaveMembers(t *testing.T, owner *e2e.Client, room string, want int) {
	t.Helper()
	if members := e2e.Call[wire.MembersReply](owner, "members", wire.MembersRequest{Room: room}).Members; len(members) != want {
		t.Errorf("the room has the members %+v, want %d", members, want)
	}
}

// TestBannedGuestComesBackAsNobody bans a guest from a room and closes the room to guests. The guest signs in as another one, and
// must not come in by joining, nor by an invitation.
func TestBannedGuestComesBackAsNobody(t *testing.T) {
	t.Parallel()
	server := start(t, "HONGBAO_JWT_SECRET="+secret, "HONGBAO_GUESTS=public")
	owner := e2e.Connect(t, server, wire.GuestReply{Token: hostToken(t, auth.Claims{User: "owner"}), User: wire.User{ID: "owner"}}, false)
	room := e2e.Call[wire.CreateRoomReply](owner, "create_room", wire.CreateRoomRequest{Key: "room", Name: "room", Kind: "public"}).Room.ID
	first := server.Guest("first")
	mustAnswer(t, server, http.StatusOK, first.Token, "commands/join", wire.JoinRequest{Room: room})
	e2e.Call[wire.KickReply](owner, "kick", wire.KickRequest{Room: room, User: first.User.ID, Ban: true})
	e2e.Call[wire.UpdateRoomReply](owner, "update_room", wire.UpdateRoomRequest{Room: room, Guests: new(false)})

	again := server.Guest("first")
	attacker := e2e.Connect(t, server, again, false)
	if _, code := codeOf[wire.JoinReply](t, attacker, "join", wire.JoinRequest{Room: room}); code != wire.CodeForbidden {
		t.Errorf("the banned guest joins as another one: %d %s, want %d", code, code.Word(), wire.CodeForbidden)
	}
	friend := hostToken(t, auth.Claims{User: "friend"})
	mustAnswer(t, server, http.StatusOK, friend, "commands/join", wire.JoinRequest{Room: room})
	mustAnswer(t, server, wire.CodeForbidden.Status(), friend, "commands/invite", wire.InviteRequest{Room: room, Users: []string{again.User.ID}})
	mustHaveMembers(t, owner, room, 2)
}
