package chat

import (
	"encoding/hex"
	"testing"
)

// TestRequestHash compares with stored values: hashes are kept in databases for ever, so the encoding must never
// change.
func TestRequestHash(t *testing.T) {
	const want = "66887fa0514d105c0edea364d94e403cec5f813d558e5beeecfbdeacc3471e4e"
	if got := hex.EncodeToString(RequestHash("send", "room", "恭喜")); got != want {
		t.Errorf("hash %s, want %s", got, want)
	}
	seen := map[string][]string{}
	for _, fields := range [][]string{
		{"send", "ab", "c"}, {"send", "a", "bc"}, {"send", "abc"}, {"send", "abc", ""}, {"send", "", "abc"}, {"senda", "bc"}, {"send"},
	} {
		hash := string(RequestHash(fields[0], fields[1:]...))
		if other, ok := seen[hash]; ok {
			t.Errorf("%q and %q have the same hash", fields, other)
		}
		seen[hash] = fields
	}
}
