package attacks

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	_ "modernc.org/sqlite" // reads the database as a thief does

	"hongbao/cmd/hongbao/e2e"
	"hongbao/web/user/auth"
	"hongbao/web/user/auth/authtest"
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

// TestReaderOfTheDatabaseSignsNothing looks for the key of guests' tokens in the database, and signs an
// administrator's token with any key that it finds, the one of the key file included.
func TestReaderOfTheDatabaseSignsNothing(t *testing.T) {
	s := start(t)
	s.Guest("any")
	db, err := sql.Open("sqlite", filepath.Join(s.Dir, "hongbao.db"))
	e2e.NoError(t, err)
	var keys [][]byte
	rows, err := db.Query(`select value from settings`)
	e2e.NoError(t, err)
	for rows.Next() {
		var value []byte
		e2e.NoError(t, rows.Scan(&value))
		keys = append(keys, value)
	}
	e2e.NoError(t, rows.Err())
	e2e.NoError(t, db.Close())
	for _, key := range keys {
		for user, scope := range map[string]string{"guest:admin": "hongbao:admin", "guest:other": ""} {
			claims := jwt.MapClaims{"sub": user, "iss": "hongbao-guest", "scope": scope, "exp": time.Now().Add(time.Hour).Unix()}
			token := authtest.Sign(t, jwt.SigningMethodHS256, key, claims)
			mustAnswer(t, s, http.StatusUnauthorized, token, "commands/wallet", wire.WalletRequest{})
			mustAnswer(t, s, http.StatusUnauthorized, token, "admin/credit", wire.AdjustRequest{User: user, Amount: 1334567, Key: "theft"})
		}
	}
	text, err := os.ReadFile(filepath.Join(s.Dir, "guest-key"))
	e2e.NoError(t, err)
	database, err := os.ReadFile(filepath.Join(s.Dir, "hongbao.db"))
	e2e.NoError(t, err)
	if bytes.Contains(database, bytes.TrimSpace(text)) {
		t.Error("the database contains the text of the key file")
	}
}
