package auth

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

const (
	minSecretBytes = 32   // a shorter secret makes HS256 weaker than its hash
	minRSABits     = 2048 // a shorter key can be broken
	maxRSABits     = 8192 // a longer key makes the check of each token slow
)

// key verifies signatures with exactly one algorithm, so that a token cannot choose the algorithm.
type key struct {
	method string
	key    any
}

// keySource finds the key that a token was signed with.
type keySource interface {
	// find returns the key with this ID (kid). An empty ID means that the token names no key.
	find(ctx context.Context, id string) (key, error)
}

// find implements keySource. The configured public key, or the configured secrets, are used for every token, whatever key ID the
// token names.
func (k key) find(context.Context, string) (key, error) { return k, nil }

// keyOf returns the key that must have signed the token, for the JWT parser. With two secrets it returns both: one must have signed.
func keyOf(ctx context.Context, keys keySource, t *jwt.Token) (any, error) {
	id, isText := t.Header["kid"].(string)
	if _, set := t.Header["kid"]; set && !isText {
		return nil, errors.New("header kid is not a string")
	}
	if err := checkType(t.Header); err != nil {
		return nil, err
	}
	if _, set := t.Header["crit"]; set { // RFC 7515: critical extensions must be understood, and this package supports none
		return nil, errors.New("header crit names an extension that is not supported")
	}
	k, err := keys.find(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case t.Method.Alg() != k.method:
		return nil, fmt.Errorf("it is signed with %s, want %s", t.Method.Alg(), k.method)
	}
	return k.key, nil
}

// checkType checks the header typ, if there is one: the token must be an access token. Other types, such as ID tokens (id+jwt,
// OpenID Connect), are not meant to give access.
func checkType(header map[string]any) error {
	typ, set := header["typ"]
	if !set {
		return nil
	}
	name, _ := typ.(string)
	switch strings.TrimPrefix(strings.ToLower(name), "application/") {
	case "jwt", "at+jwt":
		return nil
	}
	return fmt.Errorf("header typ is %.64q, want JWT or at+jwt", fmt.Sprint(typ))
}

// keys returns the keySource for whichever of Secret, PublicKey and JWKS is set, or nil if none is.
func (j JWT) keys(now func() time.Time, log *slog.Logger) (keySource, error) {
	var keys keySource
	var err error
	given := 0
	if len(j.Secret) > 0 {
		given++
		keys, err = secrets(j.Secret, j.PreviousSecret)
	} else if len(j.PreviousSecret) > 0 {
		return nil, errors.New("previous secret: it is set without a secret")
	}
	if len(j.PublicKey) > 0 {
		given++
		if keys, err = publicPEM(j.PublicKey); err != nil {
			err = fmt.Errorf("public key: %w", err)
		}
	}
	if j.JWKS != "" {
		given++
		if keys, err = newRemoteKeys(j.JWKS, now, log); err != nil {
			err = fmt.Errorf("JWKS URL: %w", err)
		}
	}
	switch {
	case given > 1:
		return nil, errors.New("keys: more than one of secret, public key and JWKS URL is set, keep one")
	case err != nil:
		return nil, err
	case j.shared() && j.Issuer == "" && j.Audience == "":
		return nil, errors.New("audience: neither audience nor issuer is set, so tokens for other programs would be accepted, too")
	}
	return keys, nil
}

// secrets returns the key that accepts HS256 signatures with any of the secrets. Empty ones are left out.
func secrets(list ...[]byte) (key, error) {
	var set jwt.VerificationKeySet
	for _, secret := range list {
		switch n := len(secret); {
		case n == 0:
			continue
		case n < minSecretBytes:
			return key{}, fmt.Errorf("secret: it has %d bytes, need at least %d", n, minSecretBytes)
		}
		set.Keys = append(set.Keys, secret)
	}
	return key{jwt.SigningMethodHS256.Alg(), set}, nil
}

// publicPEM parses PEM text, which must hold exactly one public key or certificate.
func publicPEM(text []byte) (key, error) {
	block, rest := pem.Decode(text)
	switch {
	case block == nil:
		return key{}, errors.New("it is not PEM")
	case bytes.Contains(rest, []byte("-----BEGIN")):
		return key{}, errors.New("it holds more than one PEM block, keep one")
	}
	var public any
	var err error
	switch block.Type {
	case "PUBLIC KEY":
		public, err = x509.ParsePKIXPublicKey(block.Bytes)
	case "RSA PUBLIC KEY":
		public, err = x509.ParsePKCS1PublicKey(block.Bytes)
	case "CERTIFICATE":
		var c *x509.Certificate
		if c, err = x509.ParseCertificate(block.Bytes); err == nil {
			public = c.PublicKey
		}
	default:
		return key{}, fmt.Errorf("it is a %s, want a PUBLIC KEY or CERTIFICATE", block.Type)
	}
	if err != nil {
		return key{}, err
	}
	return publicKey(public)
}

// publicKey returns a public key with the one algorithm that is allowed for its type.
func publicKey(public any) (key, error) {
	switch k := public.(type) {
	case *rsa.PublicKey:
		if bits := k.N.BitLen(); bits < minRSABits || bits > maxRSABits {
			return key{}, fmt.Errorf("RSA key has %d bits, want %d to %d", bits, minRSABits, maxRSABits)
		}
		return key{jwt.SigningMethodRS256.Alg(), k}, nil
	case *ecdsa.PublicKey:
		if k.Curve != elliptic.P256() {
			return key{}, fmt.Errorf("EC key is on curve %s, want P-256", k.Params().Name)
		}
		return key{jwt.SigningMethodES256.Alg(), k}, nil
	case ed25519.PublicKey:
		return key{jwt.SigningMethodEdDSA.Alg(), k}, nil
	}
	return key{}, fmt.Errorf("key type %T is not supported", public)
}
