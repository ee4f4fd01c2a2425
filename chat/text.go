package chat

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm" // the Unicode tables are not in the standard library
)

// Names are normalised here: each character of a stored name can be seen or shapes its neighbours, and equal names have one
// spelling. Texts of messages are stored as they were sent. A web page isolates such a text from its surroundings, so control
// characters in it do no harm.

// NormalName returns the name in the form in which it is stored: NFC, without characters that show nothing, and with one
// plain space for each run of spaces, none at either end. A joiner or variation selector that shapes its neighbours stays. ok is
// false if the name had other characters that show nothing: a caller that can ask for another name refuses it. The result is
// empty if nothing of the name can be seen.
func NormalName(name string) (normal string, ok bool) {
	normal, ok = visible(name)
	for {
		again, same := visible(normal) // a removed character may have been the neighbour that a shaping character needs
		if again == normal {
			return normal, ok && same
		}
		normal, ok = again, false
	}
}

// visible is one step of NormalName.
func visible(name string) (normal string, ok bool) {
	ok = true
	runes := []rune(norm.NFC.String(name))
	kept := make([]rune, 0, len(runes))
	for i, r := range runes {
		switch {
		case unicode.IsSpace(r):
			r = ' '
		case hidden(r) && !shapes(r, kept, runes[i+1:]), r == utf8.RuneError:
			ok = false
			continue
		}
		if r != ' ' || len(kept) > 0 && kept[len(kept)-1] != ' ' {
			kept = append(kept, r)
		}
	}
	// Characters that only shape others, and combining marks, show nothing by themselves.
	if !slices.ContainsFunc(kept, func(r rune) bool { return r != ' ' && !hidden(r) && !unicode.IsMark(r) }) {
		return "", ok && len(kept) == 0
	}
	return norm.NFC.String(strings.TrimSpace(string(kept))), ok
}

const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
)

// hidden reports whether the character shows nothing by itself: a control, also one for the direction of writing, a
// zero-width character, a filler, a variation selector, or a code point that is no character.
func hidden(r rune) bool {
	return unicode.In(r, unicode.C, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) || r == '\u2800'
}

// joining are the scripts in whose words a joiner or non-joiner is part of the spelling.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati,
	unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar,
}

// shapes reports whether the hidden character changes how its neighbours look: within an emoji, or within a word of a
// joining script.
func shapes(r rune, before, after []rune) bool {
	if len(before) == 0 {
		return false
	}
	last := before[len(before)-1]
	switch r {
	case emojiStyle:
		keycap := len(after) > 0 && after[0] == '\u20e3'
		return pictorial(last) || keycap && strings.ContainsRune("0123456789#*", last)
	case zeroWidthJoiner, zeroWidthNonJoiner:
		if len(after) == 0 || hidden(after[0]) {
			return false
		}
		next := after[0]
		if r == zeroWidthJoiner && (last == emojiStyle || last >= tone && last <= lastTone || pictorial(last)) && pictorial(next) {
			return true
		}
		return unicode.In(last, joining...) && unicode.In(next, joining...)
	}
	return false
}

// pictorial reports whether the character may be shown as a picture.
func pictorial(r rune) bool {
	return unicode.Is(unicode.So, r) || r >= 0x2000 && unicode.In(r, unicode.P, unicode.Sm)
}

// RawBytes returns the number of bytes that a text may have before it is normalised, if its normal form may have this many
// characters. A longer text is refused before it is normalised: the work must not grow with what a client sends.
func RawBytes(chars int) int { return 16 * chars }

// checkName returns the normal form of a name that the caller may choose. It returns an error if the name is missing, is too
// long, or has characters that cannot be seen.
func checkName(name string, limit int) (string, error) {
	if len(name) > RawBytes(limit) {
		return "", tooLong("name", limit)
	}
	normal, ok := NormalName(name)
	if !ok {
		return "", BadField("name", "must not hold characters that cannot be seen")
	}
	return normal, checkText("name", normal, limit)
}

// rawAvatarBytes is the largest address that NormalAvatar reads. Its callers allow less for the result.
const rawAvatarBytes = 4 << 10

// NormalAvatar returns the address of a picture in the form in which it is stored. It accepts addresses of http and https,
// and those without a scheme. It returns "" for other texts, for addresses with a user, a password or hidden characters, and for
// those over rawAvatarBytes.
func NormalAvatar(address string) string {
	if len(address) > rawAvatarBytes {
		return ""
	}
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.User != nil || u.Opaque != "" || u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https" || strings.ContainsFunc(address, hidden) {
		return ""
	}
	return u.String()
}

// ReservedNames are names that guests may not take, because such a guest would seem to speak for the operator.
type ReservedNames []string

// Holds reports whether the name is or contains a reserved one. A reserved name of Latin letters counts if it is a word of
// the name, or if all letters of the name together spell it. A reserved name with other letters counts wherever it occurs.
// Capitals, accents and letters that look alike do not matter.
func (n ReservedNames) Holds(name string) bool {
	words := strings.FieldsFunc(folded(name), func(r rune) bool { return !unicode.IsLetter(r) })
	all := strings.Join(words, "")
	return slices.ContainsFunc(n, func(reserved string) bool {
		reserved = strings.Join(strings.FieldsFunc(folded(reserved), func(r rune) bool { return !unicode.IsLetter(r) }), "")
		latin := !strings.ContainsFunc(reserved, func(r rune) bool { return r > unicode.MaxASCII })
		return reserved != "" && (all == reserved || slices.Contains(words, reserved) || !latin && strings.Contains(all, reserved))
	})
}

// alike maps small letters of other scripts to the Latin ones that they look like.
var alike = strings.NewReplacer(
	"а", "a", "в", "b", "с", "c", "ԁ", "d", "е", "e", "һ", "h", "і", "i", "ј", "j", "к", "k", "ӏ", "l", "м", "m", "н", "h", "о", "o",
	"р", "p", "ѕ", "s", "т", "t", "у", "y", "х", "x", "ԝ", "w", "α", "a", "ε", "e", "ι", "i", "κ", "k", "ν", "v", "ο", "o", "ρ", "p",
	"τ", "t", "υ", "u", "χ", "x", "ı", "i", "ɑ", "a", "ɡ", "g",
)

// folded returns the name in lower case, without accents, hidden characters and compatibility forms. Letters of other scripts
// that look like Latin ones are replaced by the Latin ones.
func folded(name string) string {
	bare := strings.Map(func(r rune) rune {
		if unicode.IsMark(r) || hidden(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(name))
	return alike.Replace(bare)
}
