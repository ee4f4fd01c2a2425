package attacks

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/centrifugal/centrifuge-go"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/web/auth"
	"hongbao/web/wire"
)

// codeOf sends a command and returns the code of its error; 0: it succeeded.
func codeOf[Reply any](t *testing.T, c *e2e.Client, method string, request any) (Reply, wire.Code) {
	t.Helper()
	reply, err := e2e.Try[Reply](t.Context(), c, method, request)
	var refused *centrifuge.Error
	if err != nil && !errors.As(err, &refused) {
		t.Fatal(err)
	}
	if refused != nil {
		return reply, wire.Code(refused.Code)
	}
	return reply, 0
}

// TestRoomsOfOthersLockNobodyOut has an attacker put a victim into as many rooms as the server lets them. The victim must
// still be able to create a room.
func TestRoomsOfOthersLockNobodyOut(t *testing.T) {
	t.Parallel()
	server := start(t)
	victim := server.Guest("victim")
	attacker := e2e.Connect(t, server, server.Guest("attacker"), false)
	for i := range 500 {
		name := fmt.Sprint("room-", i)
		e2e.Call[wire.CreateRoomReply](attacker, "create_room", wire.CreateRoomRequest{
			Key: name, Name: name, Kind: "private", Members: []string{victim.User.ID},
		})
	}
	one := e2e.Connect(t, server, victim, false)
	if _, code := codeOf[wire.CreateRoomReply](t, one, "create_room", wire.CreateRoomRequest{Key: "mine", Name: "mine", Kind: "public"}); code != 0 {
		t.Errorf("the victim creates a room: %d %s", code, code.Word())
	}
}

// TestUsersThatLeftAreNotDraggedBack has an attacker call direct and invite after the victim has left. The victim must stay
// out of both rooms.
func TestUsersThatLeftAreNotDraggedBack(t *testing.T) {
	t.Parallel()
	server := start(t)
	guest := server.Guest("victim")
	victim, attacker := e2e.Connect(t, server, guest, false), e2e.Connect(t, server, server.Guest("attacker"), false)
	direct := e2e.Call[wire.DirectReply](attacker, "direct", wire.DirectRequest{User: guest.User.ID}).Room.ID
	group := e2e.Call[wire.CreateRoomReply](attacker, "create_room", wire.CreateRoomRequest{
		Key: "group", Name: "group", Kind: "private", Members: []string{guest.User.ID},
	}).Room.ID
	for _, room := range []string{direct, group} {
		e2e.Call[wire.LeaveReply](victim, "leave", wire.LeaveRequest{Room: room})
	}
	for range 10 {
		codeOf[wire.DirectReply](t, attacker, "direct", wire.DirectRequest{User: guest.User.ID})
		codeOf[wire.InviteReply](t, attacker, "invite", wire.InviteRequest{Room: group, Users: []string{guest.User.ID}})
	}
	for _, room := range []string{direct, group} {
		if _, code := codeOf[wire.HistoryReply](t, victim, "history", wire.HistoryRequest{Room: room}); code != wire.CodeNotMember {
			t.Errorf("the victim reads a room after leaving it: %d %s, want %d", code, code.Word(), wire.CodeNotMember)
		}
	}
}

// TestProbingTellsNothingAndCosts opens direct rooms with a user that is online. The prober must learn neither the name nor the
// presence, and be refused after the burst of its rate.
func TestProbingTellsNothingAndCosts(t *testing.T) {
	t.Parallel()
	server := start(t, "HONGBAO_LIMITS=on")
	guest := server.Guest("Known Name")
	e2e.Connect(t, server, guest, false)
	prober := e2e.Connect(t, server, server.Guest("prober"), false)
	room := e2e.Call[wire.DirectReply](prober, "direct", wire.DirectRequest{User: guest.User.ID}).Room.ID
	for _, m := range e2e.Call[wire.MembersReply](prober, "members", wire.MembersRequest{Room: room}).Members {
		if m.User.ID == guest.User.ID && (m.User.Name != "" || m.Online) {
			t.Errorf("the prober sees %+v", m)
		}
	}
	refused := wire.Code(0)
	for i := 0; i < 90 && refused == 0; i++ {
		_, code := codeOf[wire.DirectReply](t, prober, "direct", wire.DirectRequest{User: fmt.Sprint("guess-", i)})
		if code == wire.CodeRateLimited {
			refused = code
		}
	}
	if refused == 0 {
		t.Error("90 probes were answered")
	}
}

// TestGuestsUseUpNoRateOfUsers has guests call create_room until the rate in all refuses them, and with faulty requests before. The
// faulty ones must not count, and a user of the host must still be able to create a room.
func TestGuestsUseUpNoRateOfUsers(t *testing.T) {
	t.Parallel()
	const inAll = 10
	server := start(t, "HONGBAO_JWT_SECRET="+secret, "HONGBAO_GUESTS=public", "HONGBAO_LIMITS=on", fmt.Sprint("HONGBAO_CREATE_RATE=0,0,", inAll))
	create := func(token, key, kind string) (status int) {
		status, _, err := server.Post(token, "commands/create_room", wire.CreateRoomRequest{Key: key, Name: "x", Kind: kind})
		e2e.NoError(t, err)
		return status
	}
	guest := server.Guest("flood").Token
	for i := range 2 * inAll { // within the burst of the guest's budget
		if status := create(guest, fmt.Sprint(i), "unknown"); status != http.StatusBadRequest {
			t.Fatalf("a faulty request: status %d", status)
		}
	}
	created, refused := 0, 0
	another := server.Guest("flood2").Token
	for i := range 2 * inAll {
		switch status := create(another, fmt.Sprint(i), "private"); status {
		case http.StatusOK:
			created++
		case http.StatusTooManyRequests:
			refused++
		default:
			t.Fatalf("a guest creates a room: status %d", status)
		}
	}
	if created < inAll || refused == 0 {
		t.Errorf("guests created %d rooms, and %d were refused: want at least %d and 1", created, refused, inAll)
	}
	if status := create(hostToken(t, auth.Claims{User: "ann"}), "mine", "private"); status != http.StatusOK {
		t.Errorf("a user of the host creates a room: status %d", status)
	}
}
