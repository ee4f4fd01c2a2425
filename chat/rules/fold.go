package rules

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm" // the Unicode tables are not in the standard library
)

// alike has letters of other scripts by the Latin letter that they look like, after lower-casing.
var alike = func() map[rune]rune {
	all := map[rune]rune{}
	for latin, others := range map[rune]string{
		'a': "аαɑ", 'b': "ьв", 'c': "сϲς", 'd': "ԁ", 'e': "еєε", 'g': "ɡց", 'h': "һհ", 'i': "іιı", 'j': "јϳ", 'k': "кκ", 'l': "ӏ", 'm': "м", 'n': "пոη", 'o': "оοσօ", 'p': "рρ",
		'q': "ԛզ", 'r': "г", 's': "ѕ", 't': "тτ", 'u': "υսц", 'v': "ѵν", 'w': "ԝшω", 'x': "хχ", 'y': "уγ", 'z': "ᴢ",
	} {
		for _, other := range others {
			all[other] = latin
		}
	}
	return all
}()

// Fold returns the form of a text in which words are looked for. Texts that look the same have the same form: full-width and styled letters
// are plain ones, case and marks are gone, so is what shows nothing, and letters of other scripts are the Latin ones that they look like.
func Fold(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < 0x80:
			return unicode.ToLower(r)
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
			return -1
		}
		r = unicode.ToLower(r)
		if latin, ok := alike[r]; ok {
			return latin
		}
		return r
	}, norm.NFKD.String(text))
}

// part reports whether the character can be part of a longer word: words of scripts that are written without spaces are found anywhere.
func part(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsDigit(r)) && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
