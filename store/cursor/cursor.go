// Package cursor is how the lists of both databases name a place to go on from.
//
// It must always hold: what a client makes up is a bad request, or a place that can be asked for.
package cursor

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"hongbao/chat"
)

// Make makes the opaque text that stands for a place in a list: the list's name and the sort key of the
// last item that was given.
func Make(list string, key ...any) string {
	text, _ := json.Marshal(append([]any{list}, key...)) //nolint:errchkjson // strings and integers cannot fail
	return base64.RawURLEncoding.EncodeToString(text)
}

// Parse reads a cursor of the list into key, one pointer for each part of the sort key. Clients can make cursors
// up: a text that no id can be is refused too.
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
