package pgstore

import (
	"errors"
	"testing"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/cursor"
)

// TestImpossibleCursorIsBadRequest passes cursors that contain a zero byte, which Postgres cannot process. Each list
// must answer chat.ErrBadRequest.
func TestImpossibleCursorIsBadRequest(t *testing.T) {
	t.Parallel()
	s := openStore(t, migratedDatabase(t))
	const id, many = "zero\x00byte", 10
	_, _, rooms := s.FindRooms(t.Context(), "", cursor.Make("rooms", int64(1), id), many)
	_, _, members := s.Members(t.Context(), room, cursor.Make("members", chat.Owner, int64(1), id), many)
	_, _, transfers := s.Transfers(t.Context(), "owner", cursor.Make("transfers", int64(1), id), many)
	_, _, role := s.Members(t.Context(), room, cursor.Make("members", id, int64(1), "owner"), many)
	_, sent := s.Packets(t.Context(), redpacket.PacketsQuery{Direction: redpacket.DirSent, Next: cursor.Make(string(redpacket.DirSent), int64(1), id), Limit: many})
	for i, err := range []error{rooms, members, role, transfers, sent} {
		if !errors.Is(err, chat.ErrBadRequest) {
			t.Errorf("list %d: %v, want a bad request", i, err)
		}
	}
}
