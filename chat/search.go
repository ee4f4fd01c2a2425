package chat

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"hongbao/chat/words"
)

// Search says which entries to find: texts, and packets by their greetings.
type Search struct {
	User          string // finds only what is in the rooms of the user; System.ID: in Room
	Room          string // "": in all rooms of the user
	Query         words.Query
	Kind          EntryKind // "": texts and packets
	Files         bool      // finds only texts that have files
	From          string    // "": sent by anybody
	After, Before time.Time // of the entry: not before After, and before Before; zero: at any time
	Next          string    // the cursor of the page; "": the first one
	Limit         int
	MaxBytes      int // has the meaning of Page.MaxBytes
}

// Found is a page of hits, the newest first.
type Found struct {
	Hits []Hit
	More string // the cursor of the next page; "": there is none
	// Behind says that some of the newest entries may be missing, because more were written than the index has taken yet and a search reads.
	Behind bool

	Unindexed []string // rooms with entries that are not in the index
}

// Hit is an entry that was found, with its amendments applied.
type Hit struct {
	Entry  Entry
	Places []Place // of the words in Entry.Searched; beyond the text or the greeting they are in names of files
}

// Place is a part of a text, in UTF-16 code units.
type Place = words.Place

// HasFiles reports whether an entry is a text with files. A recalled text has none.
func (e Entry) HasFiles() bool {
	var body struct {
		Files []json.RawMessage `json:"files"`
	}
	return e.Kind == KindText && json.Unmarshal(e.Body, &body) == nil && len(body.Files) > 0
}

// Searched returns the part of an entry that is searched: the text and, each on a line of its own, the names of its files; or the greeting of a
// packet. It is empty for other entries, and for a recalled text.
func (e Entry) Searched() string {
	var body struct {
		Text     string `json:"text"`
		Greeting string `json:"greeting"`
		Files    []File `json:"files"`
	}
	if !e.Kind.Content() || json.Unmarshal(e.Body, &body) != nil {
		return ""
	}
	if e.Kind == KindPacket {
		return body.Greeting
	}
	parts := []string{body.Text}
	for _, f := range body.Files {
		if f.Name != "" {
			parts = append(parts, f.Name)
		}
	}
	return strings.Join(parts, "\n")
}

// Beside its words, an entry has these in the index. No text has them as words, because they have control characters.
const (
	ofSender  = "\x01" // before the id of the sender
	ofPacket  = "\x02packet"
	withFiles = "\x02file"
)

// IndexedWords returns the words by which the entry is in the index: those of Searched and, if there are any, its sender, and that it is a packet or has
// files.
func (e Entry) IndexedWords() []string {
	all := words.Of(e.Searched())
	switch {
	case len(all) == 0:
		return nil
	case e.Kind == KindPacket:
		all = append(all, ofPacket)
	case e.HasFiles():
		all = append(all, withFiles)
	}
	return append(all, ofSender+e.From.ID)
}

// NarrowingWords returns the words that IndexedWords has of each entry which the search may find, whatever its Query.
func (q Search) NarrowingWords() (all []string) {
	if q.From != "" {
		all = append(all, ofSender+q.From)
	}
	if q.Files {
		return append(all, withFiles)
	}
	if q.Kind == KindPacket {
		return append(all, ofPacket)
	}
	return all
}

// queryChars is the most characters of a query.
const queryChars = 200

// QueryChars returns the most characters of a query, or 0 if there is no search.
func (s *Service) QueryChars() int {
	if s.indexer == nil {
		return 0
	}
	return queryChars
}

// Unindexed returns Indexer.Waiting; 0 if there is no search.
func (s *Service) Unindexed() int {
	if s.indexer == nil {
		return 0
	}
	return s.indexer.Waiting()
}

// Search finds texts and packets in the user's rooms, the newest first. q.Query is made of typed.
func (s *Service) Search(ctx context.Context, typed string, q Search) (found Found, err error) {
	if s.indexer == nil {
		return Found{}, BadField("words", "cannot be searched: this server has no search")
	}
	if q.Limit, err = pageLimit(q.Limit); err != nil {
		return Found{}, err
	}
	if utf8.RuneCountInString(typed) > queryChars {
		return Found{}, &FieldError{Err: ErrTooLong, Field: "words", Reason: fmt.Sprintf("must have at most %d characters", queryChars)}
	}
	switch q.Query = words.ParseQuery(typed); {
	case q.Query.Empty():
		return Found{}, BadField("words", "must have a letter or a digit")
	case q.Kind != "" && !q.Kind.Content():
		return Found{}, BadField("kind", "must be text, file or packet")
	}
	if q.Room != "" || q.User == System.ID {
		if err := s.mayRead(ctx, q.Room, q.User); err != nil {
			return Found{}, err
		}
	}
	q.MaxBytes = pageBytes
	found, err = s.store.Search(ctx, q)
	s.indexer.add(found.Unindexed...)
	return found, err
}
