package chat

import (
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestOnlyOneEmojiIsAReaction(t *testing.T) {
	for text, want := range map[string]string{
		"👍": "👍", "👍🏿": "👍🏿", "🧧": "🧧", "🇨🇳": "🇨🇳", "🏴󠁧󠁢󠁳󠁣󠁴󠁿": "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "👩🏽‍❤️‍👨🏻": "👩🏽‍❤️‍👨🏻", "👨‍👩‍👧‍👦": "👨‍👩‍👧‍👦",
		"❤️": "❤️", "❤": "❤️", "❤️️️": "❤️", "1️⃣": "1️⃣", "1⃣": "1️⃣", "👩🏽‍❤‍👨🏻": "👩🏽‍❤️‍👨🏻",
	} {
		if emoji, ok := NormalEmoji(text); !ok || emoji != want {
			t.Errorf("%+q is %+q, %t, want %+q", text, emoji, ok, want)
		}
	}
	for _, text := range []string{
		"", "x", "1", "#", "+1", "Official Support", "官方客服", "👍👍", "👍 ", " 👍", "👍\u200d", "\u200d", "\ufe0f", "👍\u200b", "\u202e👍",
		"🎂🏻", "👍🏻🏻", "🇨", "🇽🇽", "🇨🇳🇨", "👍\u200d👍", "https://a.b", "\x00", "\xff", "👍\xff", "🏴󠁧󠁢", "é", "红",
	} {
		if emoji, ok := NormalEmoji(text); ok {
			t.Errorf("%+q is the emoji %+q", text, emoji)
		}
	}
}

func TestEmojisAreComplete(t *testing.T) {
	count := 0
	for emoji := range strings.FieldsSeq(emojiText) {
		count++
		if got, ok := NormalEmoji(emoji); !ok || got != emoji {
			t.Errorf("%+q is %+q, %t", emoji, got, ok)
		}
		if n := utf8.RuneCountInString(emoji); n > DefaultLimits().EmojiChars {
			t.Errorf("%+q has %d characters", emoji, n)
		}
	}
	if count < 2000 || len(knownEmojis()) != count {
		t.Errorf("%d emojis, %d without style", count, len(knownEmojis()))
	}
}

// FuzzEmoji checks that the normal form of an emoji is its own normal form, and that nothing but skin tones and the
// picture style differs from an emoji of the list.
func FuzzEmoji(f *testing.F) {
	for _, text := range []string{"👍🏿", "❤", "🇨🇳", "x", "1️⃣", "👩🏽‍❤‍👨🏻", "🏻"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		emoji, ok := NormalEmoji(text)
		if !ok {
			if emoji != "" {
				t.Errorf("%+q is no emoji, and gives %+q", text, emoji)
			}
			return
		}
		again, ok := NormalEmoji(emoji)
		if bare := strings.ReplaceAll(text, "\ufe0f", ""); !ok || again != emoji || strings.ReplaceAll(emoji, "\ufe0f", "") != bare {
			t.Errorf("%+q gives %+q, and that %+q, %t", text, emoji, again, ok)
		}
	})
}

// TestPageOffersReactions reads the emojis that the page offers: each must be a reaction, and every language must have all of them.
func TestPageOffersReactions(t *testing.T) {
	var first []string
	for _, lang := range []string{"en", "zh"} {
		data, err := os.ReadFile("../web/page/static/emoji/" + lang + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for line := range strings.Lines(string(data)) {
			emoji, words, _ := strings.Cut(strings.TrimSpace(line), " ")
			if emoji == "#" {
				continue
			}
			if normal, ok := NormalEmoji(emoji); !ok || normal != emoji || words == "" {
				t.Errorf("%s: %+q (%q) is %+q, %t", lang, emoji, words, normal, ok)
			}
			all = append(all, emoji)
		}
		if first == nil {
			first = all
		}
		if len(all) < 1800 || !slices.Equal(all, first) {
			t.Errorf("%s: %d emojis, want those of the other languages, %d", lang, len(all), len(first))
		}
	}
}
