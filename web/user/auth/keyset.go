package auth

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

// maxKeys is the largest number of keys that a set may hold.
const maxKeys = 100

// keySet holds the usable keys of a JSON Web Key Set (RFC 7517).
type keySet struct {
	byID map[string]key
	only *key // set if the set has exactly one usable key: then tokens need not name it
}

// jwk is one JSON Web Key of a set.
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

// parseKeySet parses a key set. It skips keys that are malformed, not for signatures, or of a type, size or algorithm that is not
// supported. The host may publish such keys for other services. If several keys have the same ID, the first is used.
func parseKeySet(text []byte) (*keySet, error) {
	var doc struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	if len(doc.Keys) > maxKeys {
		return nil, fmt.Errorf("set holds %d keys, at most %d are allowed", len(doc.Keys), maxKeys)
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
		return nil, errors.New("set holds no usable key")
	case 1:
		return set, nil
	}
	set.only = nil
	return set, nil
}

// find returns the key with this ID. For an empty ID it returns the only usable key, if the set has just one.
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
		return key{}, errors.New("key is not for signatures")
	}
	public, err := j.public()
	if err != nil {
		return key{}, err
	}
	k, err := publicKey(public)
	if err == nil && j.Alg != "" && j.Alg != k.method {
		return key{}, fmt.Errorf("key is for %s", j.Alg)
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
			return nil, errors.New("RSA exponent is not odd and between 3 and 2^31-1")
		}
		return &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(exponent.Int64())}, nil
	case "EC P-256":
		if len(x) != 32 || len(y) != 32 {
			return nil, errors.New("point has the wrong length")
		}
		return ecdsa.ParseUncompressedPublicKey(elliptic.P256(), append(append([]byte{4}, x...), y...))
	case "OKP Ed25519":
		if len(x) != ed25519.PublicKeySize {
			return nil, errors.New("point has the wrong length")
		}
		return ed25519.PublicKey(x), nil
	}
	return nil, fmt.Errorf("key type %s %s is not supported", j.Type, j.Curve)
}
