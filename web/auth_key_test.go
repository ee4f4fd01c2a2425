package web

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// hostKeys are a host's private keys, one of each kind; to make them takes long enough to do it once.
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
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

func certificate(t *testing.T, key crypto.Signer) []byte {
	t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// jwkOf is a public key as a host shows it; pairs are further members, or others.
func jwkOf(t *testing.T, public any, pairs ...string) map[string]string {
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

func jwksOf(t *testing.T, keys ...map[string]string) []byte {
	t.Helper()
	text, err := json.Marshal(map[string]any{"keys": keys})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// named makes a token for ann that names its key.
func named(t *testing.T, kid string, method jwt.SigningMethod, key any) string {
	t.Helper()
	token := jwt.NewWithClaims(method, jwt.MapClaims{"sub": "ann", "exp": time.Now().Unix() + 600})
	if kid != "" {
		token.Header["kid"] = kid
	}
	text, err := token.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Whatever key is configured, it opens with its own algorithm and no other: not with another one of its kind, and not with
// HS256 and what everybody knows as the secret.
func TestAlgorithmIsPinnedByTheKey(t *testing.T) {
	k := hostKeys()
	shown := newKeyHost(t)
	publics := map[string]any{"RSA": &k.rsa.PublicKey, "EC": &k.ec.PublicKey, "Ed25519": k.ed.Public()}
	jwtOf := map[string]JWT{
		"secret":          {Secret: testSecret},
		"RSA PKCS1":       {PublicKey: pem.EncodeToMemory(&pem.Block{Type: "RSA PUBLIC KEY", Bytes: x509.MarshalPKCS1PublicKey(&k.rsa.PublicKey)})},
		"RSA certificate": {PublicKey: certificate(t, k.rsa)},
		"EC certificate":  {PublicKey: certificate(t, k.ec)},
	}
	documents, opens := map[string][]byte{}, map[string]string{"secret": "HS256", "RSA PKCS1": "RS256", "RSA certificate": "RS256", "EC certificate": "ES256"}
	secrets := map[string][]byte{"testSecret": testSecret}
	for kind, alg := range map[string]string{"RSA": "RS256", "EC": "ES256", "Ed25519": "EdDSA"} {
		text := pkix(t, publics[kind])
		block, _ := pem.Decode(text)
		secrets[kind+" PEM"], secrets[kind+" DER"] = text, block.Bytes
		jwtOf[kind+" PEM"], opens[kind+" PEM"] = JWT{PublicKey: text}, alg
		jwtOf[kind+" JWKS"], opens[kind+" JWKS"] = JWT{JWKS: shown.URL}, alg
		documents[kind+" JWKS"] = jwksOf(t, jwkOf(t, publics[kind], "kid", "k"), jwkOf(t, testSecret, "kid", "o"))
	}
	tokens := map[string]string{
		"HS256": named(t, "k", jwt.SigningMethodHS256, testSecret), "HS384": named(t, "k", jwt.SigningMethodHS384, testSecret),
		"HS256 o": named(t, "o", jwt.SigningMethodHS256, testSecret),
		"RS256":   named(t, "k", jwt.SigningMethodRS256, k.rsa), "RS512": named(t, "k", jwt.SigningMethodRS512, k.rsa),
		"PS256": named(t, "k", jwt.SigningMethodPS256, k.rsa), "ES256": named(t, "k", jwt.SigningMethodES256, k.ec),
		"ES384": named(t, "k", jwt.SigningMethodES384, k.wide), "EdDSA": named(t, "k", jwt.SigningMethodEdDSA, k.ed),
		"none": named(t, "k", jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType),
	}
	for name, secret := range secrets {
		tokens["HS256 by "+name] = named(t, "k", jwt.SigningMethodHS256, secret)
	}
	delete(tokens, "HS256 by testSecret")
	for name, host := range jwtOf {
		shown.shows(200, documents[name])
		v, err := newVerifier(host, nil, shown.now, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for alg, token := range tokens {
			if alg == "HS256 o" {
				shown.pass(jwksGap) // that key is looked for, and is not there
			}
			_, err := v.verify(t.Context(), token)
			wanted := alg == opens[name] || name == "secret" && alg == "HS256 o" // a secret has no name
			switch {
			case wanted && err != nil:
				t.Errorf("%s, signed with %s: %v", name, alg, err)
			case !wanted && !errors.Is(err, errTokenInvalid):
				t.Errorf("%s, signed with %s: accepted, or %v", name, alg, err)
			}
		}
	}
}

// What a header says and we do not understand is no detail.
func TestHeadersThatAreRefused(t *testing.T) {
	v, err := newVerifier(JWT{Secret: testSecret}, nil, time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		member string
		value  any
		good   bool
	}{
		"named": {"kid", "k", true}, "more than we need": {"x5t", "x", true}, "a number for a name": {"kid", 7, false}, "no name": {"kid", nil, false},
		"must be understood": {"crit", []string{"b64"}, false},
	} {
		token := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"sub": "ann", "exp": time.Now().Unix() + 600})
		token.Header[c.member] = c.value
		text, err := token.SignedString(testSecret)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v.verify(t.Context(), text); (err == nil) != c.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestKeysThatAreRefused(t *testing.T) {
	k := hostKeys()
	private, err := x509.MarshalPKCS8PrivateKey(k.ec)
	if err != nil {
		t.Fatal(err)
	}
	good := pkix(t, &k.ec.PublicKey)
	for name, host := range map[string]JWT{
		"private key":       {PublicKey: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})},
		"short RSA":         {PublicKey: pkix(t, &k.small.PublicKey)},
		"P-384":             {PublicKey: pkix(t, &k.wide.PublicKey)},
		"two":               {PublicKey: append(append([]byte{}, good...), good...)},
		"no PEM":            {PublicKey: []byte("ssh-ed25519 AAAA")},
		"broken PEM":        {PublicKey: pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: []byte("x")})},
		"secret and key":    {Secret: testSecret, PublicKey: good},
		"key and URL":       {PublicKey: good, JWKS: "https://host/keys"},
		"secret and URL":    {Secret: testSecret, JWKS: "https://host/keys"},
		"URL for everyone":  {JWKS: "http://host/keys"},
		"URL of a file":     {JWKS: "file:///keys"},
		"URL without host":  {JWKS: "https:///keys"},
		"no URL":            {JWKS: "://"},
		"our own issuer":    {PublicKey: good, Issuer: guestIssuer},
		"nearly this host":  {JWKS: "http://127.0.0.1.example.com/keys"},
		"URL with our name": {JWKS: "http://localhost@example.com/keys"},
	} {
		if err := host.Check(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for _, host := range []JWT{{}, {JWKS: "https://host/keys"}, {JWKS: "http://[::1]:80/keys"}, {JWKS: "http://localhost/keys"}, {PublicKey: good}} {
		if err := host.Check(); err != nil {
			t.Errorf("%+v: %v", host, err)
		}
	}
}

// Of a set, only what can be used as it says is used.
func TestKeySet(t *testing.T) {
	k := hostKeys()
	ec := func(pairs ...string) map[string]string { return jwkOf(t, &k.ec.PublicKey, pairs...) }
	for name, c := range map[string]struct {
		keys []map[string]string
		want int // keys that are found by the name k, and without one
		only bool
	}{
		"named":            {keys: []map[string]string{ec("kid", "k")}, want: 1, only: true},
		"for signatures":   {keys: []map[string]string{ec("kid", "k", "use", "sig", "alg", "ES256")}, want: 1, only: true},
		"nameless":         {keys: []map[string]string{ec()}, only: true},
		"two":              {keys: []map[string]string{ec("kid", "k"), jwkOf(t, k.ed.Public(), "kid", "l")}, want: 1},
		"one of two":       {keys: []map[string]string{ec("kid", "k"), ec("kid", "l", "use", "enc")}, want: 1, only: true},
		"not on the curve": {keys: []map[string]string{ec("kid", "k", "x", ec()["y"], "y", ec()["x"])}},
		"half a point":     {keys: []map[string]string{ec("kid", "k", "y", "AA")}},
		"encryption":       {keys: []map[string]string{ec("kid", "k", "use", "enc")}},
		"other algorithm":  {keys: []map[string]string{ec("kid", "k", "alg", "RS256")}},
		"a secret":         {keys: []map[string]string{jwkOf(t, testSecret, "kid", "k", "alg", "HS256")}},
		"short RSA":        {keys: []map[string]string{jwkOf(t, &k.small.PublicKey, "kid", "k")}},
		"exponent 1":       {keys: []map[string]string{jwkOf(t, &k.rsa.PublicKey, "kid", "k", "e", "AQ")}},
		"even exponent":    {keys: []map[string]string{jwkOf(t, &k.rsa.PublicKey, "kid", "k", "e", "BA")}},
		"huge exponent":    {keys: []map[string]string{jwkOf(t, &k.rsa.PublicKey, "kid", "k", "e", "AQAAAAAAAAAB")}},
		"other curve":      {keys: []map[string]string{jwkOf(t, &k.wide.PublicKey, "kid", "k")}},
		"none":             {},
	} {
		set, err := parseKeySet(jwksOf(t, c.keys...))
		if (err == nil) != (c.want > 0 || c.only) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err != nil {
			continue
		}
		_, found := set.find("k")
		if _, only := set.find(""); found != (c.want > 0) || only != c.only {
			t.Errorf("%s: found %t, without a name %t", name, found, only)
		}
	}
	many := make([]map[string]string, maxKeys+1)
	for i := range many {
		many[i] = ec("kid", "k")
	}
	if _, err := parseKeySet(jwksOf(t, many...)); err == nil {
		t.Error("read an endless set")
	}
}
