package cursor_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"hongbao/chat"
	"hongbao/store/cursor"
)

// FuzzParse parses texts as a client could send them. Each must be refused as a bad request, or be a position in this
// list that a query accepts.
func FuzzParse(f *testing.F) {
	f.Add(int64(1<<53), "r-1", cursor.Make("rooms", int64(7), "r-2"))
	f.Add(int64(-1), "恭喜\"<", cursor.Make("members", chat.Owner, int64(1), "u"))
	f.Add(int64(0), "\x00", "WyJyb29tcyIsMSwieCJd")
	f.Add(int64(1), "\xff", cursor.Make("transfers", int64(7), "t-1"))
	f.Fuzz(func(t *testing.T, at int64, id, next string) {
		var gotAt int64
		var gotID string
		written := cursor.Make("rooms", at, id)
		err := cursor.Parse("rooms", written, &gotAt, &gotID)
		switch zero := strings.ContainsRune(id, 0); {
		case zero != (err != nil), err != nil && !errors.Is(err, chat.ErrBadRequest):
			t.Errorf("%q: %v", id, err)
		case !zero && (gotAt != at || utf8.ValidString(id) && gotID != id || !utf8.ValidString(gotID)):
			t.Errorf("%d, %q came back as %d, %q", at, id, gotAt, gotID)
		}
		if err := cursor.Parse("transfers", written, &gotAt, &gotID); err == nil {
			t.Error("a cursor of another list is taken")
		}
		err = cursor.Parse("rooms", next, &gotAt, &gotID)
		switch {
		case err != nil && !errors.Is(err, chat.ErrBadRequest):
			t.Errorf("%q: %v", next, err)
		case err == nil && (strings.ContainsRune(gotID, 0) || !utf8.ValidString(gotID)):
			t.Errorf("%q names %q", next, gotID)
		}
	})
}
