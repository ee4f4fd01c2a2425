package events

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestWhyCanBeStored cuts texts that a receiver has chosen. Postgres refuses U+0000 and what is not UTF-8; then no event would be held.
func TestWhyCanBeStored(t *testing.T) {
	long := strings.Repeat("x", maxWhy-1)
	for text, want := range map[string]string{
		"502 Bad Gateway": "502 Bad Gateway",
		"a\xffb\x00c":     "a\uFFFDb\uFFFDc",
		long + "é":        long,
		long + "xé":       long + "x",
		long + "\xff":     long,
	} {
		if got := cut(text); got != want || !utf8.ValidString(got) {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
