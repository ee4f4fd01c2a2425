package auth

import (
	"crypto/ed25519"
	"strings"
	"testing"

	"hongbao/web/user/auth/authtest"
)

// TestKeySetIgnoresForeignKeys parses a set in which the host also publishes keys for other services. The usable key
// must be found.
func TestKeySetIgnoresForeignKeys(t *testing.T) {
	ours, _, _ := ed25519.GenerateKey(nil)
	theirs, _, _ := ed25519.GenerateKey(nil)
	inner := func(k map[string]string) string {
		return strings.TrimSuffix(strings.TrimPrefix(string(authtest.JWKS(t, k)), `{"keys":[`), "]}")
	}
	for name, other := range map[string]string{
		"kid is a number": `{"kty":"OKP","crv":"Ed25519","x":"AA","kid":7}`,
		"not an object":   `"key"`,
		"another use":     inner(authtest.JWK(t, theirs, "kid", "other", "use", "tls")),
	} {
		set, err := parseKeySet([]byte(`{"keys":[` + other + "," + inner(authtest.JWK(t, ours, "kid", "k")) + "]}"))
		if err != nil {
			t.Errorf("%s: parseKeySet returned %v", name, err)
			continue
		}
		if k, found := set.find("k"); !found || !ours.Equal(k.key) {
			t.Errorf("%s: the usable key is not found by its ID", name)
		}
		if _, found := set.find("other"); found {
			t.Errorf("%s: the other key is in the set", name)
		}
		if _, only := set.find(""); !only {
			t.Errorf("%s: the usable key is not found without an ID", name)
		}
	}
}

// TestKeySetWithRepeatedIDs parses sets with repeated IDs and of the maximum size. Of keys with the same ID, the first
// must be used.
func TestKeySetWithRepeatedIDs(t *testing.T) {
	first, _, _ := ed25519.GenerateKey(nil)
	later, _, _ := ed25519.GenerateKey(nil)
	keys := []map[string]string{authtest.JWK(t, first, "kid", "k")}
	for len(keys) < maxKeys {
		keys = append(keys, authtest.JWK(t, later, "kid", "k"))
	}
	set, err := parseKeySet(authtest.JWKS(t, keys...))
	noError(t, err)
	if k, found := set.find("k"); !found || !first.Equal(k.key) {
		t.Error("find returned another key, want the first with this ID")
	}
	if _, only := set.find(""); only {
		t.Error("find without an ID returned a key from a set of many")
	}
}
