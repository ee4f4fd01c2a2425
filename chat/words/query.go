package words

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Query finds texts that contain each of its phrases. A phrase is what stands in quotes, or between spaces: words that must follow each other in
// the text, whatever signs are between them.
type Query struct{ phrases [][]atom }

// ParseQuery returns the query that a user has typed. It has no phrases if the text has no letters or digits.
func ParseQuery(text string) Query {
	var q Query
	quoted, from := false, 0
	end := func(at int) {
		if phrase := slices.Collect(atoms(text[from:at])); len(phrase) > 0 {
			q.phrases = append(q.phrases, phrase)
		}
	}
	for i, c := range text {
		quote := strings.ContainsRune(`"“”„«»`, c)
		if quote || !quoted && unicode.IsSpace(c) {
			end(i)
			from = i + utf8.RuneLen(c)
		}
		quoted = quoted != quote
	}
	end(len(text))
	return q
}

// Empty reports whether the query has no phrases.
func (q Query) Empty() bool { return len(q.phrases) == 0 }

// Rarest returns at most n words that each text has which the query finds, those first that are probably in the fewest texts: the longest.
func (q Query) Rarest(n int) []string {
	all := list{}
	for _, phrase := range q.phrases {
		for i, a := range phrase {
			if word := firstChars(a.word); !a.joined && (i+1 == len(phrase) || !phrase[i+1].joined) {
				all.add(word)
			}
			if a.joined && i > 0 {
				all.add(phrase[i-1].word + a.word)
			}
		}
	}
	return longest(all.words, n)
}

// Place is a part of a text. From and To are numbers of UTF-16 code units, which most languages of clients count.
type Place struct{ From, To int }

// mostPlaces is how many places Find returns at most.
const mostPlaces = 20

// Find returns the places of the phrases in the text, at most mostPlaces, in their order and without overlaps. It returns nil unless each phrase
// is in the text.
func (q Query) Find(text string) []Place {
	in := slices.Collect(atoms(text))
	var found []Place // in bytes
	for _, phrase := range q.phrases {
		before := len(found)
		for i := 0; i+len(phrase) <= len(in) && len(found)-before < mostPlaces; i++ {
			if at := in[i : i+len(phrase)]; isAt(phrase, at) {
				found = append(found, Place{at[0].from, at[len(at)-1].to})
				i += len(phrase) - 1
			}
		}
		if len(found) == before {
			return nil
		}
	}
	return inUnits(text, apart(found))
}

// isAt reports whether these atoms of a text are the phrase.
func isAt(phrase, text []atom) bool {
	for i, a := range phrase {
		if a.word != text[i].word || i > 0 && a.joined && !text[i].joined {
			return false
		}
	}
	return true
}

// apart sorts the places, and leaves out those that overlap one before them.
func apart(found []Place) []Place {
	slices.SortFunc(found, func(a, b Place) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(b.To, a.To)) })
	kept := found[:0]
	for _, p := range found {
		if n := len(kept); n < mostPlaces && (n == 0 || p.From >= kept[n-1].To) {
			kept = append(kept, p)
		}
	}
	return kept
}

// inUnits turns places in bytes, which are sorted, into places in UTF-16 code units.
func inUnits(text string, places []Place) []Place {
	bytes, units := 0, 0
	count := func(to int) int {
		for _, c := range text[bytes:to] {
			units += utf16.RuneLen(c)
		}
		bytes = to
		return units
	}
	for i, p := range places {
		places[i] = Place{count(p.From), count(p.To)}
	}
	return places
}
