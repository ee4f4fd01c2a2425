package pgstore

import (
	"encoding/base64"
	"errors"
	"testing"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/storetest"
)

func TestCursor(t *testing.T) {
	at, id := int64(0), ""
	if err := parseCursor("rooms", cursor("rooms", int64(1<<53), `<"恭喜\u0000">`), &at, &id); err != nil || at != 1<<53 || id != `<"恭喜\u0000">` {
		t.Errorf("read back %d, %q, %v", at, id, err)
	}
	for _, next := range []string{
		cursor("members", int64(1), "x"), cursor("rooms", int64(1)), cursor("rooms", int64(1), "x", "y"),
		cursor("rooms", "1", "x"), cursor("rooms", 1.5, "x"), "no cursor", "",
		cursor("rooms", int64(1), "zero\x00byte"), base64.RawURLEncoding.EncodeToString([]byte("[\"rooms\",1,\"no \xff UTF-8\"]")),
	} {
		if err := parseCursor("rooms", next, &at, &id); !errors.Is(err, chat.ErrBadRequest) {
			t.Errorf("cursor %q: %v, want a bad request", next, err)
		}
	}
}

// TestCursorOfTheImpossible: what a client made up is his fault, not Postgres's.
func TestCursorOfTheImpossible(t *testing.T) {
	s := openStore(t, storetest.Database(t))
	const id, many = "zero\x00byte", 10
	_, _, rooms := s.FindRooms(t.Context(), "", cursor("rooms", int64(1), id), many)
	_, _, members := s.Members(t.Context(), room, cursor("members", chat.Owner, int64(1), id), many)
	_, _, transfers := s.Transfers(t.Context(), "owner", cursor("transfers", int64(1), id), many)
	_, _, role := s.Members(t.Context(), room, cursor("members", id, int64(1), "owner"), many)
	_, sent := s.Packets(t.Context(), redpacket.PacketsQuery{Direction: redpacket.DirSent, Next: cursor(string(redpacket.DirSent), int64(1), id), Limit: many})
	for i, err := range []error{rooms, members, role, transfers, sent} {
		if !errors.Is(err, chat.ErrBadRequest) {
			t.Errorf("list %d: %v, want a bad request", i, err)
		}
	}
}
