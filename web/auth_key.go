package web

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
	"time"

	"github.com/golang-jwt/jwt/v5"
)

const (
	minSecret = 32   // bytes: below it HS256 is weaker than its name
	minRSA    = 2048 // bits: below it RS256 is
	maxRSA    = 8192 // bits: above it each token takes too long
)

// key is what signatures are checked with, and the one algorithm it is good for, so that a token cannot choose how it is
// checked.
type key struct {
	method string
	key    any
}

// keySource has the keys of an authority.
type keySource interface {
	// find gives the key that a token names; an empty id: it names none.
	find(ctx context.Context, id string) (key, error)
}

// find implements keySource: there is no other key, whatever a token calls it.
func (k key) find(context.Context, string) (key, error) { return k, nil }

// keyOf is the key that the token must have been signed with.
func keyOf(ctx context.Context, keys keySource, t *jwt.Token) (any, error) {
	id, isText := t.Header["kid"].(string)
	if _, there := t.Header["kid"]; there && !isText {
		return nil, errors.New("the name of the key is no text")
	}
	if _, there := t.Header["crit"]; there { // RFC 7515: what must be understood, and is not
		return nil, errors.New("asks for more than we know")
	}
	k, err := keys.find(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case t.Method.Alg() != k.method:
		return nil, fmt.Errorf("signed with %s, not %s", t.Method.Alg(), k.method)
	}
	return k.key, nil
}

// keys are those of the setting that is there; nil: none is.
func (j JWT) keys(now func() time.Time, log *slog.Logger) (keySource, error) {
	var keys keySource
	var err error
	given := 0
	if len(j.Secret) > 0 {
		given++
		keys = key{jwt.SigningMethodHS256.Alg(), j.Secret}
		if len(j.Secret) < minSecret {
			err = fmt.Errorf("secret: has %d bytes, needs at least %d", len(j.Secret), minSecret)
		}
	}
	if len(j.PublicKey) > 0 {
		given++
		if keys, err = publicPEM(j.PublicKey); err != nil {
			err = fmt.Errorf("public key: %w", err)
		}
	}
	if j.JWKS != "" {
		given++
		if keys, err = newJWKS(j.JWKS, now, log); err != nil {
			err = fmt.Errorf("JWKS URL: %w", err)
		}
	}
	switch {
	case given > 1:
		return nil, errors.New("keys: more than one of secret, public key and JWKS URL is set: keep one")
	case err != nil:
		return nil, err
	}
	return keys, nil
}

// publicPEM reads a file with one public key, or with a certificate of one.
func publicPEM(text []byte) (key, error) {
	block, rest := pem.Decode(text)
	switch {
	case block == nil:
		return key{}, errors.New("is not PEM")
	case bytes.Contains(rest, []byte("-----BEGIN")):
		return key{}, errors.New("holds more than one")
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
		return key{}, fmt.Errorf("is a %s", block.Type)
	}
	if err != nil {
		return key{}, err
	}
	return publicKey(public)
}

// publicKey pins the algorithm of a key.
func publicKey(public any) (key, error) {
	switch k := public.(type) {
	case *rsa.PublicKey:
		if bits := k.N.BitLen(); bits < minRSA || bits > maxRSA {
			return key{}, fmt.Errorf("is RSA of %d bits, not %d to %d", bits, minRSA, maxRSA)
		}
		return key{jwt.SigningMethodRS256.Alg(), k}, nil
	case *ecdsa.PublicKey:
		if k.Curve != elliptic.P256() {
			return key{}, fmt.Errorf("is of the curve %s, not P-256", k.Params().Name)
		}
		return key{jwt.SigningMethodES256.Alg(), k}, nil
	case ed25519.PublicKey:
		return key{jwt.SigningMethodEdDSA.Alg(), k}, nil
	}
	return key{}, fmt.Errorf("is a %T", public)
}
