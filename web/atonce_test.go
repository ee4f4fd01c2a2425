package web

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/centrifugal/protocol"

	"hongbao/web/user/api"
	"hongbao/web/wire"
)

// TestAtOnce sends a frame full of grabs for a packet that has ended. The replies must leave in one frame, in order.
// Before that it checks which requests can be answered from memory.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		s := newTestServer(t)
		addr := s.listen(t)
		boss := s.signIn(t, "boss", 100)
		one := 1
		room := call[wire.CreateRoomReply](t, s, boss, "create_room", wire.CreateRoomRequest{Key: "r", Name: "room", Kind: "public"}).Room.ID
		packet := call[wire.SendPacketReply](t, s, boss, "send_packet", wire.SendPacketRequest{Room: room, Key: "p", Total: 1, Count: &one}).Packet.ID
		open := call[wire.SendPacketReply](t, s, boss, "send_packet", wire.SendPacketRequest{Room: room, Key: "q", Total: 1, Count: &one}).Packet.ID
		watching, _ := connected(t, addr, wire.JSON, "boss")
		synctest.Wait() // a signal of the new room that came after the grab would forget the standing that the grab has read
		call[wire.GrabReply](t, s, boss, "grab", wire.GrabRequest{Packet: packet})
		watching.push(func(p *protocol.Push) bool {
			return p.Pub != nil && strings.Contains(string(p.Pub.Data), "packet_done")
		})
		synctest.Wait() // the instance remembers the end after it has published it
		for _, c := range []struct {
			user, method, data string
			want               bool
		}{
			{"boss", "grab", `{"packet":"` + packet + `"}`, true},
			{"stranger", "grab", `{"packet":"` + packet + `"}`, false},
			{"boss", "packet", `{"packet":"` + packet + `"}`, false},
			{"boss", "grab", `{"packet":"unknown"}`, false},
			{"boss", "grab", `{"packet":"` + open + `"}`, false},
			{"boss", "grab", `{}`, false},
		} {
			request := api.NewRequest(c.method, []byte(c.data))
			if got := s.commands.FromMemory(c.user, &request); got != c.want {
				t.Errorf("%s of %s by %s: from memory %t, want %t", c.method, c.data, c.user, got, c.want)
			}
		}
		bothEncodings(t, func(t *testing.T, e wire.Encoding) {
			if got := grabAtOnce(t, s, addr, e, packet); len(got) != wire.CommandsPerFrame {
				t.Errorf("the first frame answers %v, want all answers in one frame", got)
			}
		})
	})
}

// grabAtOnce sends as many grabs as a frame may hold, in one frame, and waits for all replies. It returns the IDs in
// the first frame that has a reply.
func grabAtOnce(t *testing.T, s *testServer, addr string, e wire.Encoding, packet string) (first []uint32) {
	t.Helper()
	c, _ := connected(t, addr, e, "boss")
	defer c.ws.Close()
	var commands []string
	var want, got []uint32
	for id := range uint32(wire.CommandsPerFrame) {
		commands = append(commands, fmt.Sprintf(`{"id":%d,"rpc":{"method":"grab","data":{"packet":%q}}}`, id+10, packet))
		want = append(want, id+10)
	}
	synctest.Wait() // until no push is on its way: it would leave with some of the replies
	before := s.packets.Stats()
	c.send(commands...)
	for len(got) < len(want) {
		_, frame, err := c.ws.ReadMessage()
		if err != nil {
			t.Fatalf("answered are %v: %v", got, err)
		}
		replies, err := decodeReplies(e, frame)
		noError(t, err)
		for _, r := range replies {
			if r.Id != 0 && r.Rpc != nil {
				got = append(got, r.Id)
			}
		}
		if first == nil {
			first = slices.Clone(got)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the answers are to %v, want %v", got, want)
	}
	if n := s.packets.Stats().Already - before.Already; n != wire.CommandsPerFrame {
		t.Errorf("%d grabs are counted, want %d", n, wire.CommandsPerFrame)
	}
	return first
}
