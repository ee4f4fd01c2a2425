package attacks

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/centrifugal/centrifuge-go"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/web/user/auth"
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
