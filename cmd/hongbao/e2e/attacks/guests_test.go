package attacks

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // reads the database as a thief does

	"hongbao/cmd/hongbao/e2e"
	"hongbao/web/auth"
	"hongbao/web/wire"
)

// TestPlayMoneyNeverReachesAWallet starts a server for users of the host and public guests, and has a guest send its play money to a
// user. The server must refuse play money beside users of the host, and without the setting a guest must have none.
func TestPlayMoneyNeverReachesAWallet(t *testing.T) {
	both := []string{"HONGBAO_JWT_SECRET=" + secret, "HONGBAO_GUESTS=public"}
	_, err := e2e.TryStart(t, e2e.Build(t, ""), t.TempDir(), "127.0.0.1:0", append(both, "HONGBAO_GUEST_CREDIT=5000000")...)
	if err == nil || !strings.Contains(err.Error(), "HONGBAO_GUEST_CREDIT") {
		t.Errorf("a server with play money beside users of the host: %v, want an error that names HONGBAO_GUEST_CREDIT", err)
	}
	s := start(t, both...)
	guest, victim := s.Guest("thief"), hostToken(t, auth.Claims{User: "accomplice"})
	var created wire.CreateRoomReply
	e2e.NoError(t, json.Unmarshal(mustAnswer(t, s, http.StatusOK, guest.Token, "commands/create_room",
		wire.CreateRoomRequest{Key: "room", Name: "bank", Kind: "public"}), &created))
	mustAnswer(t, s, http.StatusOK, victim, "commands/join", map[string]string{"room": created.Room.ID})
	mustAnswer(t, s, wire.CodeInsufficientBalance.Status(), guest.Token, "commands/send_packet",
		wire.SendPacketRequest{Room: created.Room.ID, Key: "packet", Total: 1, Count: new(1)})
	if money := balance(t, s, victim); money != 0 {
		t.Errorf("the user of the host has %d, want 0", money)
	}
}
