package web

import (
	"crypto/ed25519"
	"strings"
	"testing"
)

// TestKeySetOfOthers: what a host has in its set for others keeps nothing out that is for us.
func TestKeySetOfOthers(t *testing.T) {
	ours, _, _ := ed25519.GenerateKey(nil)
	theirs, _, _ := ed25519.GenerateKey(nil)
	inner := func(k map[string]string) string {
		return strings.TrimSuffix(strings.TrimPrefix(string(jwksOf(t, k)), `{"keys":[`), "]}")
	}
	for name, other := range map[string]string{
		"a name that is a number": `{"kty":"OKP","crv":"Ed25519","x":"AA","kid":7}`,
		"no object":               `"key"`,
		"a use of its own":        inner(jwkOf(t, theirs, "kid", "other", "use", "tls")),
	} {
		set, err := parseKeySet([]byte(`{"keys":[` + other + "," + inner(jwkOf(t, ours, "kid", "k")) + "]}"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if k, found := set.find("k"); !found || !ours.Equal(k.key) {
			t.Errorf("%s: ours is not found", name)
		}
		if _, found := set.find("other"); found {
			t.Errorf("%s: it is taken", name)
		}
		if _, only := set.find(""); !only {
			t.Errorf("%s: ours is not the only one", name)
		}
	}
}

// TestKeySetWithNamesTwice: the first of a name counts, and as many as a set may have are read.
func TestKeySetWithNamesTwice(t *testing.T) {
	first, _, _ := ed25519.GenerateKey(nil)
	later, _, _ := ed25519.GenerateKey(nil)
	keys := []map[string]string{jwkOf(t, first, "kid", "k")}
	for len(keys) < 100 {
		keys = append(keys, jwkOf(t, later, "kid", "k"))
	}
	set, err := parseKeySet(jwksOf(t, keys...))
	if err != nil {
		t.Fatal(err)
	}
	if k, found := set.find("k"); !found || !first.Equal(k.key) {
		t.Error("the first one is not found by their name")
	}
	if _, only := set.find(""); only {
		t.Error("one of many is taken for the only one")
	}
}
