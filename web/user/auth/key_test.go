package auth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"hongbao/web/user/auth/authtest"
)

// hostKeys returns one private key of each kind. The keys are generated once, because that is slow.
var hostKeys = sync.OnceValue(func() (k struct {
	rsa, small *rsa.PrivateKey
	ec, wide   *ecdsa.PrivateKey
	ed         ed25519.PrivateKey
}) {
	k.rsa, _ = rsa.GenerateKey(rand.Reader, 2048)
	k.small, _ = rsa.GenerateKey(rand.Reader, 1024)
	k.ec, _ = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	k.wide, _ = ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	_, k.ed, _ = ed25519.GenerateKey(rand.Reader)
	return k
})

func pkix(t *testing.T, public any) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(public)
	noError(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

func certificate(t *testing.T, key crypto.Signer) []byte {
	t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	noError(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// TestKeyDecidesAlgorithm verifies tokens signed with each key by each algorithm. A key must be accepted with its own
// algorithm only. It must not be accepted with another algorithm of its kind, nor as an HS256 secret.
func TestKeyDecidesAlgorithm(t *testing.T) {
	k := hostKeys()
	server := authtest.NewKeyServer(t)
	publics := map[string]any{"RSA": &k.rsa.PublicKey, "EC": &k.ec.PublicKey, "Ed25519": k.ed.Public()}
	jwtOf := map[string]JWT{
		"secret":          {Secret: testSecret},
		"RSA PKCS1":       {PublicKey: pem.EncodeToMemory(&pem.Block{Type: "RSA PUBLIC KEY", Bytes: x509.MarshalPKCS1PublicKey(&k.rsa.PublicKey)}), Issuer: authtest.Issuer},
		"RSA certificate": {PublicKey: certificate(t, k.rsa), Issuer: authtest.Issuer},
		"EC certificate":  {PublicKey: certificate(t, k.ec), Issuer: authtest.Issuer},
	}
	documents, wantAlg := map[string][]byte{}, map[string]string{"secret": "HS256", "RSA PKCS1": "RS256", "RSA certificate": "RS256", "EC certificate": "ES256"}
	secrets := map[string][]byte{"testSecret": testSecret}
	for kind, alg := range map[string]string{"RSA": "RS256", "EC": "ES256", "Ed25519": "EdDSA"} {
		text := pkix(t, publics[kind])
		block, _ := pem.Decode(text)
		secrets[kind+" PEM"], secrets[kind+" DER"] = text, block.Bytes
		jwtOf[kind+" PEM"], wantAlg[kind+" PEM"] = JWT{PublicKey: text, Issuer: authtest.Issuer}, alg
		jwtOf[kind+" JWKS"], wantAlg[kind+" JWKS"] = JWT{JWKS: server.URL, Issuer: authtest.Issuer}, alg
		documents[kind+" JWKS"] = authtest.JWKS(t, authtest.JWK(t, publics[kind], "kid", "k"), authtest.JWK(t, testSecret, "kid", "o"))
	}
	tokens := map[string]string{
		"HS256": authtest.SignWithKeyID(t, "k", jwt.SigningMethodHS256, testSecret), "HS384": authtest.SignWithKeyID(t, "k", jwt.SigningMethodHS384, testSecret),
		"HS256 o": authtest.SignWithKeyID(t, "o", jwt.SigningMethodHS256, testSecret),
		"RS256":   authtest.SignWithKeyID(t, "k", jwt.SigningMethodRS256, k.rsa), "RS512": authtest.SignWithKeyID(t, "k", jwt.SigningMethodRS512, k.rsa),
		"PS256": authtest.SignWithKeyID(t, "k", jwt.SigningMethodPS256, k.rsa), "ES256": authtest.SignWithKeyID(t, "k", jwt.SigningMethodES256, k.ec),
		"ES384": authtest.SignWithKeyID(t, "k", jwt.SigningMethodES384, k.wide), "EdDSA": authtest.SignWithKeyID(t, "k", jwt.SigningMethodEdDSA, k.ed),
		"none": authtest.SignWithKeyID(t, "k", jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType),
	}
	for name, secret := range secrets {
		tokens["HS256 by "+name] = authtest.SignWithKeyID(t, "k", jwt.SigningMethodHS256, secret)
	}
	delete(tokens, "HS256 by testSecret")
	for name, host := range jwtOf {
		server.Respond(200, documents[name])
		v := newTestVerifier(t, host, nil, server.Now)
		for alg, token := range tokens {
			if alg == "HS256 o" {
				server.Advance(minFetchInterval) // the unknown key ID causes a fetch
			}
			_, err := v.Verify(t.Context(), token)
			wanted := alg == wantAlg[name] || name == "secret" && alg == "HS256 o" // a secret is accepted with any key ID
			switch {
			case wanted && err != nil:
				t.Errorf("key %s, token signed with %s: refused with %v, want accepted", name, alg, err)
			case !wanted && !errors.Is(err, ErrInvalid):
				t.Errorf("key %s, token signed with %s: error %v, want ErrInvalid", name, alg, err)
			}
		}
	}
}

// TestHeaderChecks verifies tokens with unusual headers. A critical extension, a kid that is not a string, and a
// typ other than that of access tokens must make a token invalid.
func TestHeaderChecks(t *testing.T) {
	v := newTestVerifier(t, JWT{Secret: testSecret}, nil, time.Now)
	for name, c := range map[string]struct {
		member string
		value  any
		good   bool
	}{
		"access token": {"typ", "at+jwt", true}, "in capitals": {"typ", "AT+JWT", true}, "media type": {"typ", "application/at+jwt", true}, "jwt": {"typ", "jwt", true},
		"ID token": {"typ", "id+jwt", false}, "logout token": {"typ", "logout+jwt", false}, "empty typ": {"typ", "", false}, "typ is a list": {"typ", []string{"JWT"}, false},
		"kid": {"kid", "k", true}, "unknown header": {"x5t", "x", true}, "kid is a number": {"kid", 7, false}, "kid is null": {"kid", nil, false},
		"critical extension": {"crit", []string{"b64"}, false}, "critical extension, no kid": {"crit", []string{"b64"}, false},
	} {
		token := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"sub": "ann", "exp": time.Now().Unix() + 600})
		if !strings.Contains(name, "no kid") {
			token.Header["kid"] = "k"
		}
		token.Header[c.member] = c.value
		text, err := token.SignedString(testSecret)
		noError(t, err)
		if _, err := v.Verify(t.Context(), text); (err == nil) != c.good {
			t.Errorf("%s: error %v, want accepted: %t", name, err, c.good)
		}
	}
}

func TestCheckRefusesBadKeys(t *testing.T) {
	k := hostKeys()
	private, err := x509.MarshalPKCS8PrivateKey(k.ec)
	noError(t, err)
	good := pkix(t, &k.ec.PublicKey)
	for name, host := range map[string]JWT{ // all but the last ones get an audience
		"private key":       {PublicKey: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})},
		"short RSA":         {PublicKey: pkix(t, &k.small.PublicKey)},
		"P-384":             {PublicKey: pkix(t, &k.wide.PublicKey)},
		"two":               {PublicKey: append(append([]byte{}, good...), good...)},
		"no PEM":            {PublicKey: []byte("ssh-ed25519 AAAA")},
		"broken PEM":        {PublicKey: pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: []byte("x")})},
		"secret and key":    {Secret: testSecret, PublicKey: good},
		"key and URL":       {PublicKey: good, JWKS: "https://host/keys"},
		"secret and URL":    {Secret: testSecret, JWKS: "https://host/keys"},
		"plain HTTP URL":    {JWKS: "http://host/keys"},
		"URL of a file":     {JWKS: "file:///keys"},
		"URL without host":  {JWKS: "https:///keys"},
		"no URL":            {JWKS: "://"},
		"guest issuer":      {PublicKey: good, Issuer: guestIssuer},
		"URL like loopback": {JWKS: "http://127.0.0.1.example.com/keys"},
		"user localhost":    {JWKS: "http://localhost@example.com/keys"},
		"URL, any audience": {JWKS: "https://host/keys"},
		"key, any audience": {PublicKey: good},
		"short previous":    {Secret: testSecret, PreviousSecret: make([]byte, 31)},
		"only previous":     {PreviousSecret: testSecret},
	} {
		if host.Issuer == "" && !strings.Contains(name, "audience") {
			host.Audience = "chat"
		}
		if err := host.Check(); err == nil {
			t.Errorf("%s: Check accepted it, want an error", name)
		}
	}
	for _, host := range []JWT{{}, {JWKS: "https://host/keys", Audience: "chat"}, {JWKS: "http://[::1]:80/keys", Issuer: "host"}, {JWKS: "http://localhost/keys", Issuer: "host"}, {PublicKey: good, Issuer: "host"}} {
		if err := host.Check(); err != nil {
			t.Errorf("Check of %+v: %v, want no error", host, err)
		}
	}
}

// TestKeySetSkipsUnusableKeys parses sets with unusable keys. A key must be used only if it is well formed and meant
// for signatures.
func TestKeySetSkipsUnusableKeys(t *testing.T) {
	k := hostKeys()
	ec := func(pairs ...string) map[string]string { return authtest.JWK(t, &k.ec.PublicKey, pairs...) }
	for name, c := range map[string]struct {
		keys []map[string]string
		want int  // number of keys with the ID k
		only bool // whether a key is found for an empty ID
	}{
		"named":            {keys: []map[string]string{ec("kid", "k")}, want: 1, only: true},
		"for signatures":   {keys: []map[string]string{ec("kid", "k", "use", "sig", "alg", "ES256")}, want: 1, only: true},
		"no ID":            {keys: []map[string]string{ec()}, only: true},
		"two":              {keys: []map[string]string{ec("kid", "k"), authtest.JWK(t, k.ed.Public(), "kid", "l")}, want: 1},
		"one of two":       {keys: []map[string]string{ec("kid", "k"), ec("kid", "l", "use", "enc")}, want: 1, only: true},
		"not on the curve": {keys: []map[string]string{ec("kid", "k", "x", ec()["y"], "y", ec()["x"])}},
		"half a point":     {keys: []map[string]string{ec("kid", "k", "y", "AA")}},
		"encryption":       {keys: []map[string]string{ec("kid", "k", "use", "enc")}},
		"other algorithm":  {keys: []map[string]string{ec("kid", "k", "alg", "RS256")}},
		"a secret":         {keys: []map[string]string{authtest.JWK(t, testSecret, "kid", "k", "alg", "HS256")}},
		"short RSA":        {keys: []map[string]string{authtest.JWK(t, &k.small.PublicKey, "kid", "k")}},
		"exponent 1":       {keys: []map[string]string{authtest.JWK(t, &k.rsa.PublicKey, "kid", "k", "e", "AQ")}},
		"even exponent":    {keys: []map[string]string{authtest.JWK(t, &k.rsa.PublicKey, "kid", "k", "e", "BA")}},
		"huge exponent":    {keys: []map[string]string{authtest.JWK(t, &k.rsa.PublicKey, "kid", "k", "e", "AQAAAAAAAAAB")}},
		"other curve":      {keys: []map[string]string{authtest.JWK(t, &k.wide.PublicKey, "kid", "k")}},
		"none":             {},
	} {
		set, err := parseKeySet(authtest.JWKS(t, c.keys...))
		if (err == nil) != (c.want > 0 || c.only) {
			t.Errorf("%s: parseKeySet returned %v", name, err)
			continue
		}
		if err != nil {
			continue
		}
		_, found := set.find("k")
		if _, only := set.find(""); found != (c.want > 0) || only != c.only {
			t.Errorf("%s: found by ID: %t, without ID: %t; want %t, %t", name, found, only, c.want > 0, c.only)
		}
	}
	many := make([]map[string]string, maxKeys+1)
	for i := range many {
		many[i] = ec("kid", "k")
	}
	if _, err := parseKeySet(authtest.JWKS(t, many...)); err == nil {
		t.Errorf("parseKeySet accepted %d keys, want an error", len(many))
	}
}
