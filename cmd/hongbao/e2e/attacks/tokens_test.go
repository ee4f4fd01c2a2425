package attacks

import (
	"crypto/ed25519"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/web/user/auth/authtest"
	"hongbao/web/wire"
)

// TestTokenOfAnotherProgram sends tokens that an identity provider has signed with the same key for another program, and ID tokens.
func TestTokenOfAnotherProgram(t *testing.T) {
	keys := authtest.NewKeyServer(t)
	public, private, err := ed25519.GenerateKey(nil)
	e2e.NoError(t, err)
	keys.Respond(http.StatusOK, authtest.JWKS(t, authtest.JWK(t, public, "kid", "k")))
	jwks := "HONGBAO_JWT_JWKS_URL=" + keys.URL
	_, err = e2e.TryStart(t, e2e.Build(t, ""), t.TempDir(), "127.0.0.1:0", jwks)
	if err == nil || !strings.Contains(err.Error(), "audience") {
		t.Errorf("a server that accepts tokens for any program: %v, want an error that names the audience", err)
	}
	s := start(t, jwks, "HONGBAO_JWT_AUDIENCE=chat", "HONGBAO_JWT_ISSUER=https://id.example.com/")
	token := func(typ string, changes jwt.MapClaims) string {
		claims := jwt.MapClaims{"sub": "ann", "iss": "https://id.example.com/", "aud": "chat", "exp": time.Now().Add(time.Hour).Unix()}
		maps.Copy(claims, changes)
		unsigned := jwt.NewWithClaims(jwt.SigningMethodEdDSA, claims)
		unsigned.Header["kid"], unsigned.Header["typ"] = "k", typ
		signed, err := unsigned.SignedString(private)
		e2e.NoError(t, err)
		return signed
	}
	mustAnswer(t, s, http.StatusOK, token("at+jwt", nil), "commands/wallet", wire.WalletRequest{})
	for name, forged := range map[string]string{
		"other audience":       token("JWT", jwt.MapClaims{"aud": "mail"}),
		"other issuer":         token("JWT", jwt.MapClaims{"iss": "https://id.example.net/"}),
		"ID token":             token("id+jwt", nil),
		"issued in the future": token("JWT", jwt.MapClaims{"iat": time.Now().Add(30 * time.Second).Unix()}),
	} {
		if status, answer, err := s.Post(forged, "commands/wallet", wire.WalletRequest{}); err != nil || status != http.StatusUnauthorized {
			t.Errorf("%s: status %d, %v, want 401: %s", name, status, err, answer)
		}
	}
	credit := wire.AdjustRequest{User: "ann", Amount: 1, Key: "theft"}
	mustAnswer(t, s, http.StatusForbidden, token("JWT", jwt.MapClaims{"scope": "openid admin"}), "admin/credit", credit)
	mustAnswer(t, s, http.StatusOK, token("JWT", jwt.MapClaims{"scope": "openid hongbao:admin"}), "admin/credit", credit)
}
