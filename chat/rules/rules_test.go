package rules

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func mustCompile(t testing.TB, rules ...Rule) *Set {
	t.Helper()
	s, err := Compile(rules, OfInstallation)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func refuses(s *Set, text string) bool { return s.Check(Text{Text: text}).Refused != nil }

// TestEvasionsAreFound writes words in ways that look the same to a person.
func TestEvasionsAreFound(t *testing.T) {
	s := mustCompile(t, Rule{Kind: Words, Words: []string{"casino", "赌博", "free money", "ASS", "naïve"}})
	for _, text := range []string{
		"casino", "CASINO!", "the casino.", "ｃａｓｉｎｏ", "c\u200ba\u200bs\u200bi\u200bn\u200bo", "с\u0430sin\u043e", "𝐜𝐚𝐬𝐢𝐧𝐨", "ⓒⓐⓢⓘⓝⓞ", "cas\u0131no", "c\u0301asino", "caſino",
		"网上赌博吗", "赌\u200d博", "get FREE  money"[:9] + "money", "free money", "an ass", "ass", "naive", "NAÏVE", "cas\ufe0fino", "ca\u00adsino",
	} {
		if !refuses(s, text) {
			t.Errorf("%q is not refused", text)
		}
	}
	for _, text := range []string{"", "casinos", "class", "assume", "博赌", "freemoney", "moneyfree", "cas ino", "naiveté is fine"} {
		if refuses(s, text) {
			t.Errorf("%q is refused", text)
		}
	}
}

func TestPatternsAndLinks(t *testing.T) {
	patterns := mustCompile(t, Rule{Kind: Patterns, Patterns: []string{`\b\d{11}\b`, `wechat\s*id`}})
	for text, want := range map[string]bool{"call 13800138000": true, "call １３８００１３８０００": true, "WeChat  ID": true, "call 1380013800": false} {
		if refuses(patterns, text) != want {
			t.Errorf("pattern: %q is refused: %v, want %v", text, !want, want)
		}
	}
	hosts := mustCompile(t, Rule{Kind: Links, Hosts: []string{"example.com"}})
	none := mustCompile(t, Rule{Kind: Links})
	for text, want := range map[string][2]bool{ // refused with example.com allowed, and with no link allowed
		"see https://example.com/a":             {false, true},
		"see http://www.example.com:80/a?b":     {false, true},
		"see docs.example.com":                  {false, true},
		"see https://example.com@evil.org/a":    {true, true},
		"see https://notexample.com":            {true, true},
		"see https://evil.org?@example.com":     {true, true},
		"see https://evil.org#@example.com/x":   {true, true},
		`see https://evil.org\@example.com`:     {true, true},
		"see evil.org":                          {true, true},
		"see HTTPS://EVIL.ORG/x":                {true, true},
		"see ｅｖｉｌ．ｏｒｇ":                          {true, true},
		"see https://example.com and bad.xyz/1": {true, true},
		"at 10.30 it ends. Come, e.g. today":    {false, false},
		"version 1.2.3 of main.go":              {false, false},
	} {
		if got := [2]bool{refuses(hosts, text), refuses(none, text)}; got != want {
			t.Errorf("links: %q is refused: %v, want %v", text, got, want)
		}
	}
}

func TestTimesOfAuthors(t *testing.T) {
	joined := time.UnixMilli(1_700_000_000_000)
	s := mustCompile(t, Rule{Kind: Wait, Seconds: 60}, Rule{Kind: Files, Days: 1}, Rule{Kind: Slow, Seconds: 10}, Rule{Kind: Repeat, Seconds: 20})
	v := s.Check(Text{Text: "a", JoinedAt: joined, Now: joined.Add(59 * time.Second)})
	if v.Refused == nil || v.Refused.Kind != Wait || !v.Until.Equal(joined.Add(time.Minute)) {
		t.Errorf("a new member: %+v", v)
	}
	v = s.Check(Text{Text: "a", JoinedAt: joined, Now: joined.Add(time.Minute)})
	if v.Refused != nil || len(v.Rates) != 2 || v.Rates[0].Per != 10*time.Second || v.Rates[0].Same || !v.Rates[1].Same {
		t.Errorf("a member of a minute: %+v", v)
	}
	if v := s.Check(Text{HasFiles: true, JoinedAt: joined, Now: joined.Add(23 * time.Hour)}); v.Refused == nil || v.Refused.Kind != Files {
		t.Errorf("files of a new member: %+v", v)
	}
	if v := s.Check(Text{HasFiles: true, JoinedAt: joined, Now: joined.Add(24 * time.Hour)}); v.Refused != nil {
		t.Errorf("files of a member of a day: %+v", v)
	}
}

// TestEachRuleActs checks that a text that breaks several rules is refused, held and reported by those that say so.
func TestEachRuleActs(t *testing.T) {
	s := mustCompile(t, Rule{Kind: Words, Do: Report, Words: []string{"a"}}, Rule{Kind: Words, Do: Hold, Words: []string{"b"}}, Rule{Kind: Words, Say: "no c", Words: []string{"c"}})
	for text, want := range map[string][3]bool{"a": {true, false, false}, "b": {false, true, false}, "c": {false, false, true}, "a b c": {true, true, true}, "d": {}} {
		v := s.Check(Text{Text: text})
		if got := [3]bool{len(v.Reports) > 0, v.Held != nil, v.Refused != nil && v.Refused.Say == "no c"}; got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	if v := (*Set)(nil).Check(Text{Text: "a"}); v.Refused != nil || !(*Set)(nil).Empty() {
		t.Errorf("no rules refuse %+v", v)
	}
}

func TestWrongRulesAreNamed(t *testing.T) {
	for want, rule := range map[string]Rule{
		"pattern 1: repeats too much":          {Kind: Patterns, Patterns: []string{"(?:" + strings.Repeat("a?", 100) + "){1000}c"}},
		`kind is "ban"`:                        {Kind: "ban"},
		`do is "delete"`:                       {Kind: Words, Do: "delete", Words: []string{"a"}},
		"words must be 1 to":                   {Kind: Words},
		"word 2 must have":                     {Kind: Words, Words: []string{"a", "\u200b"}},
		"word 1 must have":                     {Kind: Words, Words: []string{strings.Repeat("a", 65)}},
		"pattern 1: ":                          {Kind: Patterns, Patterns: []string{"("}},
		"pattern 1 matches every text":         {Kind: Patterns, Patterns: []string{"a*"}},
		"pattern 1 must have":                  {Kind: Patterns, Patterns: []string{strings.Repeat("a", 257)}},
		"invalid repeat count":                 {Kind: Patterns, Patterns: []string{"(a{1000}){1000}"}},
		`host "https://a" must be`:             {Kind: Links, Hosts: []string{"https://a"}},
		"seconds must be":                      {Kind: Slow},
		"days must be":                         {Kind: Files, Days: 400},
		`seconds does not fit a rule of the`:   {Kind: Words, Words: []string{"a"}, Seconds: 1},
		`do does not fit a rule of the kind "`: {Kind: Slow, Do: Hold, Seconds: 1},
		"say must have at most":                {Kind: Slow, Seconds: 1, Say: strings.Repeat("a", 201)},
	} {
		if _, err := Compile([]Rule{{Kind: Slow, Seconds: 1}, rule}, OfRoom); err == nil || !strings.HasPrefix(err.Error(), "2: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", rule, err, want)
		}
	}
	if _, err := Compile(make([]Rule, 21), OfRoom); err == nil {
		t.Error("21 rules are compiled")
	}
	many := Rule{Kind: Patterns, Patterns: slices.Repeat([]string{"a"}, 15)}
	if _, err := Compile([]Rule{many, many}, OfRoom); err == nil || !strings.Contains(err.Error(), "2: all rules together") {
		t.Errorf("two rules with too many patterns: %v", err)
	}
}

// FuzzWords compares the matcher with a search for each word.
func FuzzWords(f *testing.F) {
	f.Add("she sells he hers", "he she his hers")
	f.Add("aaaa b aa", "aa a")
	f.Add("赌博 abc", "赌 abc bc")
	f.Add("甲乙丙", "甲乙丙丁 乙丙戊 丙")
	f.Fuzz(func(t *testing.T, text, list string) {
		var words []string
		for word := range strings.FieldsSeq(Fold(list)) {
			words = append(words, word)
		}
		if len(words) == 0 || len(list) > 1000 {
			return
		}
		text = Fold(text)
		want := slices.ContainsFunc(words, func(word string) bool {
			for i := range len(text) {
				if strings.HasPrefix(text[i:], word) && alone(text, i, i+len(word)) {
					return true
				}
			}
			return false
		})
		if got := newMatcher(words).find(text); got != want {
			t.Errorf("find %q in %q: %v, want %v", words, text, got, want)
		}
	})
}

// TestAllocations bounds what a text costs that keeps to ten thousand words.
func TestAllocations(t *testing.T) {
	s := mustCompile(t, Rule{Kind: Words, Words: tenThousand()})
	text := Text{Text: "The lantern festival begins tonight, we meet at eight, bring tea and oranges"}
	if n := testing.AllocsPerRun(100, func() { s.Check(text) }); n > 4 {
		t.Errorf("%v allocations, want at most 4", n)
	}
}

func tenThousand() (words []string) {
	for n := range 10_000 {
		words = append(words, fmt.Sprintf("%s%d", []string{"lan", "fest", "orang", "tonig", "bring"}[n%5], n))
	}
	return words
}

// BenchmarkTenThousandWords checks a text of 76 characters.
func BenchmarkTenThousandWords(b *testing.B) {
	s := mustCompile(b, Rule{Kind: Words, Words: tenThousand()})
	text := Text{Text: "The lantern festival begins tonight, we meet at eight, bring tea and oranges"}
	for b.Loop() {
		s.Check(text)
	}
}
