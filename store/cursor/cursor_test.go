package cursor_test

import (
	"encoding/base64"
	"errors"
	"testing"

	"hongbao/chat"
	"hongbao/store/cursor"
)

func TestCursor(t *testing.T) {
	at, id := int64(0), ""
	if err := cursor.Parse("rooms", cursor.Make("rooms", int64(1<<53), `<"恭喜\u0000">`), &at, &id); err != nil || at != 1<<53 || id != `<"恭喜\u0000">` {
		t.Errorf("read back %d, %q, %v", at, id, err)
	}
	for _, next := range []string{
		cursor.Make("members", int64(1), "x"), cursor.Make("rooms", int64(1)), cursor.Make("rooms", int64(1), "x", "y"),
		cursor.Make("rooms", "1", "x"), cursor.Make("rooms", 1.5, "x"), "no cursor", "",
		cursor.Make("rooms", int64(1), "zero\x00byte"), base64.RawURLEncoding.EncodeToString([]byte("[\"rooms\",1,\"no \xff UTF-8\"]")),
	} {
		if err := cursor.Parse("rooms", next, &at, &id); !errors.Is(err, chat.ErrBadRequest) {
			t.Errorf("cursor %q: %v, want a bad request", next, err)
		}
	}
}
