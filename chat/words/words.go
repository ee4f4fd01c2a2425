// Package words splits texts into the words by which they are found. An index of names stores Parts, so that every part of a word is found; Match decides
// which of its candidates a query finds. An index of messages stores the Hash of each word of Of; Query.Find decides.
package words

import (
	"crypto/sha256"
	"encoding/binary"
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Longest is the most characters of a word. What follows in the text is not part of any word.
const Longest = 40

// Fold returns the text as it is compared: letters of either case are the same, and so are those of either width.
func Fold(text string) string {
	if strings.IndexFunc(text, func(c rune) bool { return c >= utf8.RuneSelf }) < 0 {
		return strings.ToLower(text)
	}
	return norm.NFKC.String(cases.Fold().String(norm.NFKC.String(text)))
}

// Of returns the words of a text, folded, each once, in their order. A word is a run of letters and digits. In Chinese, Japanese and Korean,
// which are written without spaces, each character is a word, and so is each pair of neighbours.
func Of(text string) []string {
	all := list{}
	split(text, func(word string) { all.add(firstChars(word)) })
	return all.words
}

// Parts returns the words of a text and all their endings. So each part of a word is the beginning of one of them.
func Parts(text string) []string {
	all := list{}
	split(text, func(word string) {
		for i, c := range word {
			if i == 0 || !isAlone(c) {
				all.add(firstChars(word[i:]))
			}
		}
	})
	return all.words
}

// Hash returns what stands for a word of the texts of a room in an index of many rooms. Two words of any rooms practically never have the same hash. Its
// last four bits are the bucket of the room (Bucket).
func Hash(room, word string) int64 {
	sum := sha256.Sum256([]byte(room + "\x00" + word))
	return int64(binary.BigEndian.Uint64(sum[:8]))&^15 | Bucket(room)
}

// Bucket returns the bucket in which a store that is split over several machines keeps the rows of a room.
func Bucket(room string) int64 { return int64(sha256.Sum256([]byte(room))[0] & 15) }

// Match reports whether the text contains the query, in whatever case and width.
func Match(text, query string) bool { return strings.Contains(Fold(text), Fold(query)) }

// list holds words, each once.
type list struct {
	words []string
	seen  map[string]bool
}

func (l *list) add(word string) {
	if l.seen == nil {
		l.seen = map[string]bool{}
	}
	if !l.seen[word] {
		l.seen[word] = true
		l.words = append(l.words, word)
	}
}

// atom is a word of a text, or a character that is a word by itself. It was made of the bytes from:to of the text.
type atom struct {
	word     string
	from, to int
	joined   bool // it is a character that is a word by itself, and so is the one directly before it
}

// split calls add with each word of the text.
func split(text string, add func(word string)) {
	last := ""
	for a := range atoms(text) {
		add(a.word)
		if a.joined {
			add(last + a.word)
		}
		last = a.word
	}
}

// atoms returns the atoms of the text, in their order. It folds each character with its marks by itself, so that it knows the place of each atom.
func atoms(text string) iter.Seq[atom] {
	return func(yield func(atom) bool) {
		s, fold := scanner{yield: yield}, cases.Fold()
		var parts norm.Iter
		parts.InitString(norm.NFKC, text)
		for !parts.Done() {
			from := parts.Pos()
			part, to := string(parts.Next()), parts.Pos()
			if to == from { // more of this character follows
				_, size := utf8.DecodeRuneInString(text[from:])
				to += size
			}
			for _, c := range folded(part, fold) {
				if !s.add(c, from, to) {
					return
				}
			}
		}
		s.end()
	}
}

// scanner makes atoms of folded characters.
type scanner struct {
	yield    func(atom) bool
	run      strings.Builder // the letters and digits of an atom that has not ended
	from, to int             // of run
	alone    bool            // the last character was a word by itself
}

// add takes the next character, which was made of the bytes from:to of the text. It returns false if no other is wanted.
func (s *scanner) add(c rune, from, to int) bool {
	switch {
	case drawn(c) || unicode.IsMark(c) && s.run.Len() == 0:
		return true
	case isAlone(c):
		joined := s.alone
		s.alone = true
		return s.end() && s.yield(atom{string(c), from, to, joined})
	}
	s.alone = false
	if !inWord(c) {
		return s.end()
	}
	if s.run.Len() == 0 {
		s.from = from
	}
	s.run.WriteRune(c)
	s.to = to
	return true
}

// end ends the atom of letters and digits, if there is one.
func (s *scanner) end() bool {
	if s.run.Len() == 0 {
		return true
	}
	a := atom{word: s.run.String(), from: s.from, to: s.to}
	s.run.Reset()
	return s.yield(a)
}

// folded returns a character with its marks as Fold does. Most characters of most texts need no tables.
func folded(part string, fold cases.Caser) string {
	if len(part) == 1 {
		return strings.ToLower(part)
	}
	if c, size := utf8.DecodeRuneInString(part); size == len(part) && c >= 0x4e00 && c <= 0x9fff { // unified ideographs
		return part
	}
	return norm.NFKC.String(fold.String(part))
}

// drawn reports whether the character only says how the one before it is drawn.
func drawn(c rune) bool {
	return c >= 0xfe00 && c <= 0xfe0f || c >= 0xe0100 && c <= 0xe01ef || c == 0x20e3 // variation selectors, keycap
}

// Range returns the words that begin with the given one: from is the first of them, and to follows the last, by bytes.
func Range(word string) (from, to string) { return word, word + "\U0010ffff" }

// isAlone reports whether the character is a word by itself. The mark of long vowels has no script of its own.
func isAlone(c rune) bool {
	return c == 'ー' || unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// inWord reports whether the character is part of a word of several characters.
func inWord(c rune) bool {
	return (unicode.IsLetter(c) || unicode.IsNumber(c) || unicode.IsMark(c)) && !isAlone(c)
}

// firstChars returns at most Longest characters of a word.
func firstChars(word string) string {
	if chars := []rune(word); len(chars) > Longest {
		return string(chars[:Longest])
	}
	return word
}

// Rarest returns at most n of the words of a query, those first that are probably in the fewest texts: the longest.
func Rarest(query string, n int) []string {
	return longest(Of(query), n)
}

// longest sorts the words, and returns at most n of them.
func longest(all []string, n int) []string {
	slices.SortStableFunc(all, func(a, b string) int { return len(b) - len(a) })
	return all[:min(n, len(all))]
}
