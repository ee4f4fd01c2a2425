package words

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestOf(t *testing.T) {
	for text, want := range map[string][]string{
		"":                      nil,
		" -- !?":                nil,
		"Hello, hello WORLD":    {"hello", "world"},
		"恭喜发财":                  {"恭", "喜", "恭喜", "发", "喜发", "财", "发财"},
		"新年 2026快乐":             {"新", "年", "新年", "2026", "快", "乐", "快乐"},
		"ＡＢＣ１２":                 {"abc12"},
		"Straße İstanbul ÄÖ":    {"strasse", "i̇stanbul", "äö"},
		"cafe\u0301":            {"café"},
		"snake_case":            {"snake", "case"},
		"サーバー":                  {"サ", "ー", "サー", "バ", "ーバ", "バー"},
		"한국 음식":                 {"한", "국", "한국", "음", "식", "음식"},
		"привет мир":            {"привет", "мир"},
		"🧧 red":                 {"red"},
		strings.Repeat("a", 99): {strings.Repeat("a", Longest)},
	} {
		if got := Of(text); !slices.Equal(got, want) {
			t.Errorf("words of %q: %q, want %q", text, got, want)
		}
	}
}

func TestParts(t *testing.T) {
	if got, want := Parts("Bao 恭喜"), []string{"bao", "ao", "o", "恭", "喜", "恭喜"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		text, query string
		want        bool
	}{
		{"Hongbao Fans", "BAO", true},
		{"Hongbao Fans", "bao f", true},
		{"Hongbao Fans", "fans hongbao", false},
		{"恭喜发财", "喜发", true},
		{"恭喜发财", "恭发", false},
		{"100% fun", "%", true},
		{"100% fun", "100 ", false},
		{"ＡＢＣ", "abc", true},
		{"x", "", true},
	} {
		if got := Match(c.text, c.query); got != c.want {
			t.Errorf("%q in %q: %v", c.query, c.text, got)
		}
	}
}

// FuzzWords requires that an index of parts finds every text that matches: each word of the query is the beginning of one of the parts.
func FuzzWords(f *testing.F) {
	f.Add("Hongbao Fans 恭喜", "ans 恭")
	f.Add("aab", "ab")
	f.Add("e\u0301", "e")
	f.Add(strings.Repeat("ab", 50), strings.Repeat("ba", 30))
	f.Fuzz(func(t *testing.T, text, query string) {
		if !utf8.ValidString(text) || !utf8.ValidString(query) || !Match(text, query) {
			return
		}
		all := Parts(text)
		for _, word := range Of(query) {
			from, to := Range(word)
			if !slices.ContainsFunc(all, func(w string) bool { return from <= w && w < to }) {
				t.Errorf("%q matches %q, but no part of %q begins with %q", query, text, all, word)
			}
		}
	})
}

func TestRarest(t *testing.T) {
	if got := Rarest("a 恭喜 hongbao", 2); !slices.Equal(got, []string{"hongbao", "恭喜"}) {
		t.Errorf("%q", got)
	}
}
