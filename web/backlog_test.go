package web

import (
	"fmt"
	"strings"
	"testing"

	"hongbao/web/wire"
)

// TestManyLongRepliesAtOnce has a client request many long replies at once. It must receive all of them, and must not
// be closed as slow.
func TestManyLongRepliesAtOnce(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	addr := s.listen(t)
	bothEncodings(t, func(t *testing.T, e wire.Encoding) {
		c, _ := connected(t, addr, e, "ann")
		room := rpc[wire.CreateRoomReply](c, 2, "create_room", wire.CreateRoomRequest{Key: fmt.Sprint("room", e), Name: "archive", Kind: "public"}).Room.ID
		for i := range 60 {
			rpc[wire.SendReply](c, uint32(10+i), "send", wire.SendRequest{Room: room, Key: fmt.Sprintf("%d-%d", e, i), Text: strings.Repeat("长", 3000)})
		}
		const asked = 32
		var commands []string
		for i := range asked {
			commands = append(commands, fmt.Sprintf(`{"id":%d,"rpc":{"method":"history","data":{"room":%q}}}`, 100+i, room))
		}
		c.send(commands...)
		for range asked {
			if r := c.next(); r.Rpc == nil || len(r.Rpc.Data) < 256<<10 {
				t.Fatalf("not a page of history: %d bytes, %v", len(r.Rpc.GetData()), r.Error)
			}
		}
	})
}
