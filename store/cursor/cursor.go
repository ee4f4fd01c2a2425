// Package cursor encodes the position at which the next page of a list begins. Package tables uses cursor. Package cursor
// imports chat, for the error.
//
// Invariant: a cursor that a client makes up is either refused as a bad request, or decodes to a position that a query accepts.
package cursor

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"hongbao/chat"
)

// Make encodes a position as opaque text: the list's name, and the sort key of the last item on the page.
func Make(list string, key ...any) string {
	text, _ := json.Marshal(append([]any{list}, key...)) //nolint:errchkjson // strings and integers cannot fail
	return base64.RawURLEncoding.EncodeToString(text)
}

// Parse decodes a cursor of the list into key, which has one pointer for each part of the sort key. Any other text is a bad
// request. So is an id that Postgres cannot store, with U+0000 or not UTF-8, because clients can make up cursors.
func Parse(list, next string, key ...any) error {
	var name string
	want := append([]any{&name}, key...)
	text, err := base64.RawURLEncoding.DecodeString(next)
	if err != nil {
		return errBad()
	}
	var parts []json.RawMessage
	if !utf8.Valid(text) || json.Unmarshal(text, &parts) != nil || len(parts) != len(want) {
		return errBad()
	}
	for i, part := range parts {
		var id string
		if json.Unmarshal(part, want[i]) != nil || json.Unmarshal(part, &id) == nil && strings.ContainsRune(id, 0) {
			return errBad()
		}
	}
	if name != list {
		return errBad()
	}
	return nil
}

func errBad() error { return chat.BadField("next", "is no cursor of this list") }
