package web

import (
	"crypto/ed25519"
	"net/http"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"hongbao/web/user/auth"
	"hongbao/web/user/auth/authtest"
	"hongbao/web/wire"
)

// withKeyServer makes a test server use the keys and the clock of a key server.
func withKeyServer(keys *authtest.KeyServer) func(*Options) {
	return func(o *Options) { o.JWT, o.Now = auth.JWT{JWKS: keys.URL, Issuer: authtest.Issuer}, keys.Now }
}

// nextFetch is longer than the minimum time between two fetches of the host's keys.
const nextFetch = 11 * time.Second

// TestConnectBeforeKeysAreFetched connects before any fetch of the host's keys has succeeded. The token must be neither
// accepted nor invalid: the client must be told to retry.
func TestConnectBeforeKeysAreFetched(t *testing.T) {
	t.Parallel()
	keys := authtest.NewKeyServer(t)
	s := newTestServer(t, withKeyServer(keys))
	c := dial(t, s.listen(t), wire.JSON)
	public, private, _ := ed25519.GenerateKey(nil)
	token := authtest.SignWithKeyID(t, "k", jwt.SigningMethodEdDSA, private)
	c.send(`{"id":1,"connect":{"token":"` + token + `"}}`)
	if r := c.next(); r.Error == nil || r.Error.Code != uint32(wire.CodeUnavailable) || !r.Error.Temporary {
		t.Fatalf("connect was answered with %v, want the temporary error unavailable", r)
	}
	mustAnswer[wire.ErrorBody](t, ask(t, s.Handler(), "POST", "/v1/commands/wallet", token, ""), 503)
	if _, response, _ := tryDial(s.listen(t), wire.JSON, http.Header{"Authorization": {"Bearer " + token}}); response == nil || response.StatusCode != 503 {
		t.Errorf("upgrade was answered with %v, want status 503", response)
	}
	keys.Respond(200, authtest.JWKS(t, authtest.JWK(t, public, "kid", "k")))
	keys.Advance(nextFetch)
	c.connect(token, "{}")
}
