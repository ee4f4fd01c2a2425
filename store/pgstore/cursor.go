package pgstore

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"hongbao/chat"
)

// cursor makes the opaque text that stands for a place in a list: the list's name and the sort key of the
// last item that was given.
func cursor(list string, key ...any) string {
	text, _ := json.Marshal(append([]any{list}, key...)) //nolint:errchkjson // strings and integers cannot fail
	return base64.RawURLEncoding.EncodeToString(text)
}

// parseCursor reads a cursor of the list into key, one pointer for each part of the sort key. Clients can make cursors
// up: a text that no id can be is refused too.
func parseCursor(list, next string, key ...any) error {
	var name string
	want := append([]any{&name}, key...)
	text, err := base64.RawURLEncoding.DecodeString(next)
	if err != nil {
		return errBadCursor()
	}
	var parts []json.RawMessage
	if !utf8.Valid(text) || json.Unmarshal(text, &parts) != nil || len(parts) != len(want) {
		return errBadCursor()
	}
	for i, part := range parts {
		var id string
		if json.Unmarshal(part, want[i]) != nil || json.Unmarshal(part, &id) == nil && strings.ContainsRune(id, 0) {
			return errBadCursor()
		}
	}
	if name != list {
		return errBadCursor()
	}
	return nil
}

func errBadCursor() error { return chat.BadField("next", "is no cursor of this list") }
