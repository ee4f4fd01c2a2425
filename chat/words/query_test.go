package words

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

func TestQuery(t *testing.T) {
	for _, c := range []struct {
		query, text string
		found       []string // what stands at the places
	}{
		{"hello", "Hello, world: hello!", []string{"Hello", "hello"}},
		{"world hello", "Hello, world!", []string{"Hello", "world"}},
		{`"hello world"`, "Hello, world!", []string{"Hello, world"}},
		{`"world hello"`, "Hello, world!", nil},
		{"hell", "Hello", nil},
		{"喜", "恭喜发财", []string{"喜"}},
		{"喜发", "恭喜发财", []string{"喜发"}},
		{"喜财", "恭喜发财", nil},
		{"恭喜", "恭，喜", nil},
		{"“恭 喜”", "恭，喜", []string{"恭，喜"}},
		{"ａｂｃ", "🧧🧧 ABC", []string{"ABC"}},
		{"café", "un cafe\u0301", []string{"cafe\u0301"}},
		{"strasse", "die Straße", []string{"Straße"}},
		{"한국", "한국 음식", []string{"한국"}},
		{"新年快乐2026", "祝新年快乐 2026", []string{"新年快乐 2026"}},
		{"snake_case", "a snake case", []string{"snake case"}},
		{"aa AA", "aa", []string{"aa"}},
		{"love", "❤️love you", []string{"love"}},
		{"b", "a😀️b", []string{"b"}},
		{"葛城", "葛\U000e0100城", []string{"葛\U000e0100城"}},
		{"9", "9️⃣ lives", []string{"9"}},
		{"1", "½ cup", []string{"½"}},
		{"株式", "a ㍿ b", []string{"㍿"}},
		{`"open`, "open", []string{"open"}},
		{strings.Repeat("a", 50), strings.Repeat("a", 50), []string{strings.Repeat("a", 50)}},
		{strings.Repeat("a", 50), strings.Repeat("a", 51), nil},
	} {
		q := ParseQuery(c.query)
		units := utf16.Encode([]rune(c.text))
		var found []string
		for _, p := range q.Find(c.text) {
			found = append(found, string(utf16.Decode(units[p.From:p.To])))
		}
		if !slices.Equal(found, c.found) {
			t.Errorf("%q in %q is at %q, want %q", c.query, c.text, found, c.found)
		}
	}
	for _, nothing := range []string{"", " ", "!?", "🧧", "❤️", `"" ""`} {
		if !ParseQuery(nothing).Empty() {
			t.Errorf("%q is a query", nothing)
		}
	}
	if n := len(ParseQuery("a").Find(strings.Repeat("a b ", 100))); n != mostPlaces {
		t.Errorf("%d places, want %d", n, mostPlaces)
	}
}

// FuzzQuery searches a text for a query. If the query is found, the index finds the text by each of the words that the query names. Each part of a
// text between spaces finds the text.
func FuzzQuery(f *testing.F) {
	for _, text := range []string{"恭喜发财 hello", `"新年 快乐" ㎏½ ﷺ`, "İ ẞ e\u0301\u0323", "\xff a\u200db", "한 각"} {
		f.Add(text, text)
	}
	f.Add("㍿ ½ ﷺ", "株 1 صلى")
	f.Fuzz(func(t *testing.T, text, query string) {
		q, of := ParseQuery(query), Of(text)
		places := q.Find(text)
		last := 0
		for _, p := range places {
			if p.From < last || p.To <= p.From || p.To > len(utf16.Encode([]rune(text))) {
				t.Fatalf("%q in %q: places %v", query, text, places)
			}
			last = p.To
		}
		if places != nil {
			for _, word := range q.Rarest(10) {
				if !slices.Contains(of, word) {
					t.Errorf("%q is in %q, but its word %q is not", query, text, word)
				}
			}
		}
		for part := range strings.FieldsSeq(text) {
			if q := ParseQuery(part); !strings.ContainsAny(text, `"“”„«»`) && !q.Empty() && q.Find(text) == nil {
				t.Errorf("%q is not found in %q", part, text)
			}
		}
	})
}
