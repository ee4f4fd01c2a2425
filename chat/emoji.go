package chat

import (
	_ "embed"
	"strings"
	"sync"
)

// emojiText holds every emoji of Unicode 17 (RGI_Emoji of UTS #51, fully qualified), with each skin tone replaced by
// the lightest, and without repetitions. Unicode adds some each year; the file is made again from emoji-test.txt.
//
//go:embed emoji.txt
var emojiText string

const (
	emojiStyle = '\ufe0f' // asks for a picture instead of a plain character
	tone       = '\U0001f3fb'
	lastTone   = '\U0001f3ff'
)

// knownEmojis returns the emojis of emojiText, by their form without emojiStyle.
var knownEmojis = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for emoji := range strings.FieldsSeq(emojiText) {
		all[strings.ReplaceAll(emoji, string(emojiStyle), "")] = emoji
	}
	return all
})

// NormalEmoji returns the fully qualified form of one emoji, so that an emoji has one spelling. ok is false if the text
// is anything else.
func NormalEmoji(text string) (emoji string, ok bool) {
	var tones []rune
	bare := strings.Map(func(r rune) rune {
		switch {
		case r == emojiStyle:
			return -1
		case r >= tone && r <= lastTone:
			tones = append(tones, r)
			return tone
		}
		return r
	}, text)
	emoji, ok = knownEmojis()[bare]
	return strings.Map(func(r rune) rune {
		if r == tone {
			r, tones = tones[0], tones[1:]
		}
		return r
	}, emoji), ok
}
