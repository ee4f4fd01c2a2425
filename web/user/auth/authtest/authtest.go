// Package authtest provides what tests of token verification need: a server that publishes key sets, JSON Web Keys, and
// tokens signed with any key. Only tests import it.
package authtest

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// KeyServer serves the key set of a host. It responds as the test has set, and counts the fetches. Its clock is moved
// by the test.
type KeyServer struct {
	*httptest.Server
	handler atomic.Pointer[http.HandlerFunc]
	fetches atomic.Int64
	ahead   atomic.Int64 // offset of its clock, in nanoseconds
}

// NewKeyServer starts a server that responds with status 500 until the test calls Respond or Handle. It is closed when
// the test ends.
func NewKeyServer(t *testing.T) *KeyServer {
	t.Helper()
	s := &KeyServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.fetches.Add(1)
		(*s.handler.Load())(w, r)
	}))
	t.Cleanup(s.Close)
	s.Respond(http.StatusInternalServerError, nil)
	return s
}

// Respond sets the response to later fetches, until the next call of Respond or Handle.
func (s *KeyServer) Respond(status int, body []byte) {
	s.Handle(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write(body)
	})
}

// Handle sets the handler for later fetches, until the next call of Respond or Handle.
func (s *KeyServer) Handle(f http.HandlerFunc) { s.handler.Store(&f) }

// Now returns the time of the server's clock: the real time plus all calls of Advance.
func (s *KeyServer) Now() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) }

// Advance moves the clock forward.
func (s *KeyServer) Advance(d time.Duration) { s.ahead.Add(int64(d)) }

// Fetches returns the number of fetches so far.
func (s *KeyServer) Fetches() int64 { return s.fetches.Load() }

// JWK returns the public key as a JSON Web Key. A []byte is a secret and becomes a symmetric key (oct). pairs are names and values
// of fields to add or replace.
func JWK(t *testing.T, public any, pairs ...string) map[string]string {
	t.Helper()
	text := base64.RawURLEncoding.EncodeToString
	var j map[string]string
	switch k := public.(type) {
	case *rsa.PublicKey:
		j = map[string]string{"kty": "RSA", "n": text(k.N.Bytes()), "e": text(big.NewInt(int64(k.E)).Bytes())}
	case *ecdsa.PublicKey:
		point, err := k.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		half := len(point) / 2
		j = map[string]string{"kty": "EC", "crv": k.Params().Name, "x": text(point[1 : 1+half]), "y": text(point[1+half:])}
	case ed25519.PublicKey:
		j = map[string]string{"kty": "OKP", "crv": "Ed25519", "x": text(k)}
	case []byte:
		j = map[string]string{"kty": "oct", "k": text(k)}
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		j[pairs[i]] = pairs[i+1]
	}
	return j
}

// JWKS returns a JSON Web Key Set with the given keys.
func JWKS(t *testing.T, keys ...map[string]string) []byte {
	t.Helper()
	text, err := json.Marshal(map[string]any{"keys": keys})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Sign returns a token with these claims, signed with the key.
func Sign(t *testing.T, method jwt.SigningMethod, key any, claims jwt.MapClaims) string {
	t.Helper()
	return sign(t, jwt.NewWithClaims(method, claims), key)
}

// Issuer is the issuer (iss) of the tokens that SignWithKeyID returns.
const Issuer = "host"

// SignWithKeyID returns a token of the user ann by Issuer, valid for ten minutes. Its header names the key by kid; an empty kid is
// left out.
func SignWithKeyID(t *testing.T, kid string, method jwt.SigningMethod, key any) string {
	t.Helper()
	token := jwt.NewWithClaims(method, jwt.MapClaims{"sub": "ann", "iss": Issuer, "exp": time.Now().Unix() + 600})
	if kid != "" {
		token.Header["kid"] = kid
	}
	return sign(t, token, key)
}

func sign(t *testing.T, token *jwt.Token, key any) string {
	t.Helper()
	text, err := token.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
