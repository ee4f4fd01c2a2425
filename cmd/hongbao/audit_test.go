package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hongbao/redpacket"
)

// TestReadHeads reads heads from the answer of the admin endpoint, from a log and from a file without heads.
func TestReadHeads(t *testing.T) {
	a, b := redpacket.Head{Chain: 1, Link: 1 << 60, Hash: [32]byte{0xab}}, redpacket.Head{Chain: 20, Link: 5, Hash: [32]byte{2}}
	for text, want := range map[string][]redpacket.Head{
		`{"heads":["` + a.String() + `","` + b.String() + `"]}`:                                                                            {a, b},
		`time=2026-11-23T07:00:00Z level=INFO msg="heads of hash chains" heads="` + a.String() + " " + b.String() + `"` + "\nother line\n": {a, b},
		"": nil, "3/4": nil, strings.ToUpper(a.String()): nil,
	} {
		name := filepath.Join(t.TempDir(), "heads")
		noError(t, os.WriteFile(name, []byte(text), 0o600))
		if got, err := readHeads(name); !slices.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	if got, err := readHeads(""); got != nil || err != nil {
		t.Errorf("without a file: %v, %v", got, err)
	}
	if _, err := readHeads(filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Error("a missing file is no error")
	}
}
