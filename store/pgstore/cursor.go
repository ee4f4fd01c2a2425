package pgstore

import (
	"encoding/base64"
	"encoding/json"

	"hongbao/chat"
)

// cursor makes the opaque text that stands for a place in a list: the list's name and the sort key of the
// last item that was given.
func cursor(list string, key ...any) string {
	text, _ := json.Marshal(append([]any{list}, key...)) //nolint:errchkjson // strings and integers cannot fail
	return base64.RawURLEncoding.EncodeToString(text)
}

// parseCursor reads a cursor of the list into key, one pointer for each part of the sort key.
func parseCursor(list, next string, key ...any) error {
	var name string
	want := append([]any{&name}, key...)
	text, err := base64.RawURLEncoding.DecodeString(next)
	if err != nil {
		return errBadCursor()
	}
	var parts []json.RawMessage
	if json.Unmarshal(text, &parts) != nil || len(parts) != len(want) {
		return errBadCursor()
	}
	for i, part := range parts {
		if json.Unmarshal(part, want[i]) != nil {
			return errBadCursor()
		}
	}
	if name != list {
		return errBadCursor()
	}
	return nil
}

func errBadCursor() error { return chat.BadField("next", "is no cursor of this list") }
