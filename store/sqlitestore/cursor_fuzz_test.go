package sqlitestore

import (
	"errors"
	"testing"
	"unicode/utf8"

	"hongbao/chat"
)

// FuzzCursor: what a client gives as a cursor is a bad request, or names a place that can be asked for and written again.
func FuzzCursor(f *testing.F) {
	f.Add("rooms", int64(1<<53), "r-1", cursor("rooms", int64(7), "r-2"))
	f.Add("rooms", int64(-1), "恭喜\"<", cursor("members", chat.Owner, int64(1), "u"))
	f.Add("transfers", int64(0), "", "WyJyb29tcyIsMSwieCJd")
	f.Fuzz(func(t *testing.T, list string, at int64, id, next string) {
		var gotAt int64
		var gotID string
		written := cursor(list, at, id)
		err := parseCursor(list, written, &gotAt, &gotID)
		zero := false
		for _, r := range id {
			zero = zero || r == 0
		}
		switch good := utf8.ValidString(list+id) && !zero; {
		case good && (err != nil || gotAt != at || gotID != id):
			t.Errorf("%q, %d, %q came back as %d, %q, %v", list, at, id, gotAt, gotID, err)
		case zero && err == nil:
			t.Errorf("%q is taken", id)
		}
		err = parseCursor("rooms", next, &gotAt, &gotID)
		switch {
		case err != nil && !errors.Is(err, chat.ErrBadRequest):
			t.Errorf("%q: %v", next, err)
		case err == nil:
			place, name := gotAt, gotID
			if err := parseCursor("rooms", cursor("rooms", place, name), &gotAt, &gotID); err != nil || gotAt != place || gotID != name {
				t.Errorf("%q: %d, %q came back as %d, %q, %v", next, place, name, gotAt, gotID, err)
			}
		}
	})
}
