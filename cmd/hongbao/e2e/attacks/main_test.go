// Package attacks has tests that act against the real program as a stranger, a guest or a reader of its files would. Each test is an attack that has
// succeeded on an older version, and must fail. SECURITY.md lists them.
package attacks

import (
	"encoding/json"
	"net/http"
	"os"
	"testing"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/web/user/auth"
	"hongbao/web/wire"
)

func TestMain(m *testing.M) { os.Exit(e2e.Main(m)) }

// secret signs the tokens of the host.
const secret = "the host's secret of these tests, at least 32 bytes"

// start starts an embedded server on a loopback address.
func start(t *testing.T, variables ...string) *e2e.Server {
	t.Helper()
	return e2e.Start(t, e2e.Build(t, ""), t.TempDir(), "127.0.0.1:0", variables...)
}

// hostToken returns a token of the host.
func hostToken(t *testing.T, c auth.Claims) string {
	t.Helper()
	token, err := auth.Sign([]byte(secret), c, time.Hour)
	e2e.NoError(t, err)
	return token
}

// mustAnswer sends a request and fails the test unless it is answered with the status.
func mustAnswer(t *testing.T, s *e2e.Server, want int, token, path string, request any) (answer []byte) {
	t.Helper()
	status, answer, err := s.Post(token, path, request)
	e2e.NoError(t, err)
	if status != want {
		t.Fatalf("POST %s: status %d, want %d: %s", path, status, want, answer)
	}
	return answer
}

// balance returns the balance of the token's user.
func balance(t *testing.T, s *e2e.Server, token string) int64 {
	t.Helper()
	var reply wire.WalletReply
	e2e.NoError(t, json.Unmarshal(mustAnswer(t, s, http.StatusOK, token, "commands/wallet", wire.WalletRequest{}), &reply))
	return reply.Balance
}
