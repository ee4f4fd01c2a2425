package web

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
)

// maxKeys is how many keys a set may have.
const maxKeys = 100

// keySet is a JSON Web Key Set (RFC 7517): those keys of it that we can use.
type keySet struct {
	byID map[string]key
	only *key // the only one, which a token need not name
}

// jwk is one key of a set.
type jwk struct {
	Type  string `json:"kty"`
	ID    string `json:"kid"`
	Use   string `json:"use"`
	Alg   string `json:"alg"`
	Curve string `json:"crv"`
	N     string `json:"n"`
	E     string `json:"e"`
	X     string `json:"x"`
	Y     string `json:"y"`
}

// parseKeySet reads a set. Keys for other uses, of other kinds, or broken, are passed over: a host may have them for
// others, and they open nothing.
func parseKeySet(text []byte) (*keySet, error) {
	var doc struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	if len(doc.Keys) > maxKeys {
		return nil, fmt.Errorf("has %d keys, more than %d", len(doc.Keys), maxKeys)
	}
	set := &keySet{byID: map[string]key{}}
	usable := 0
	for _, raw := range doc.Keys {
		var j jwk
		if json.Unmarshal(raw, &j) != nil {
			continue
		}
		k, err := j.key()
		if err != nil {
			continue
		}
		usable++
		set.only = &k
		if _, taken := set.byID[j.ID]; j.ID != "" && !taken {
			set.byID[j.ID] = k
		}
	}
	switch usable {
	case 0:
		return nil, errors.New("has no key that we can use")
	case 1:
		return set, nil
	}
	set.only = nil
	return set, nil
}

// find gives the key that a token names.
func (s *keySet) find(id string) (key, bool) {
	if id == "" {
		if s.only == nil {
			return key{}, false
		}
		return *s.only, true
	}
	k, ok := s.byID[id]
	return k, ok
}

func (j jwk) key() (key, error) {
	if j.Use != "" && j.Use != "sig" {
		return key{}, errors.New("is not for signatures")
	}
	public, err := j.public()
	if err != nil {
		return key{}, err
	}
	k, err := publicKey(public)
	if err == nil && j.Alg != "" && j.Alg != k.method {
		return key{}, fmt.Errorf("is for %s", j.Alg)
	}
	return k, err
}

func (j jwk) public() (any, error) {
	n, errN := base64.RawURLEncoding.DecodeString(j.N)
	e, errE := base64.RawURLEncoding.DecodeString(j.E)
	x, errX := base64.RawURLEncoding.DecodeString(j.X)
	y, errY := base64.RawURLEncoding.DecodeString(j.Y)
	if err := errors.Join(errN, errE, errX, errY); err != nil {
		return nil, err
	}
	switch j.Type + " " + j.Curve {
	case "RSA ":
		exponent := new(big.Int).SetBytes(e)
		if !exponent.IsInt64() || exponent.Int64() < 3 || exponent.Int64() > math.MaxInt32 || exponent.Bit(0) == 0 {
			return nil, errors.New("has no good exponent")
		}
		return &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(exponent.Int64())}, nil
	case "EC P-256":
		if len(x) != 32 || len(y) != 32 {
			return nil, errors.New("has no point")
		}
		return ecdsa.ParseUncompressedPublicKey(elliptic.P256(), append(append([]byte{4}, x...), y...))
	case "OKP Ed25519":
		if len(x) != ed25519.PublicKeySize {
			return nil, errors.New("has no point")
		}
		return ed25519.PublicKey(x), nil
	}
	return nil, fmt.Errorf("is a %s %s", j.Type, j.Curve)
}
