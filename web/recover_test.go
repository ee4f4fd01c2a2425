package web

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/centrifugal/protocol"

	"hongbao/chat"
	"hongbao/web/user/api"
	"hongbao/web/wire"
)

// fill sends n texts to a room concurrently.
func (s *testServer) fill(t *testing.T, c api.Caller, room, text string, n int) {
	t.Helper()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			if _, err := s.chat.Send(context.Background(), c.User, chat.Message{Room: room, Key: fmt.Sprintf("%s-%d", room, i), Text: text}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func subs(epoch string, offsets map[string]int64) string {
	asked := map[string]any{}
	for room, offset := range offsets {
		asked["room:"+room] = map[string]any{"recover": true, "epoch": epoch, "offset": offset}
	}
	text, _ := json.Marshal(asked)
	return string(text)
}

// mustRecover checks one room of a connect reply. If recovered is true, it must have the entries after seq after up to
// seq through. Otherwise it must have none and say so.
func mustRecover(t *testing.T, r *protocol.ConnectResult, room string, recovered bool, after, through uint64) {
	t.Helper()
	sub := r.Subs["room:"+room]
	if sub == nil {
		t.Errorf("%s is missing", room)
		return
	}
	if !sub.WasRecovering || sub.Recovered != recovered || sub.Offset != through {
		t.Errorf("recovering %v, recovered %v, offset %d; want true, %v, %d", sub.WasRecovering, sub.Recovered, sub.Offset, recovered, through)
	}
	want := through - after
	if !recovered {
		want = 0
	}
	if uint64(len(sub.Publications)) != want {
		t.Errorf("%d publications, want %d", len(sub.Publications), want)
		return
	}
	for i, p := range sub.Publications {
		var entry wire.Entry
		noError(t, json.Unmarshal(p.Data, &entry))
		if p.Offset != after+1+uint64(i) || entry.Seq != int64(p.Offset) || entry.ID == "" || entry.Kind != "text" {
			t.Errorf("publication %d: offset %d, entry %+v", i, p.Offset, entry)
		}
	}
}

func TestRecover(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	addr := s.listen(t)
	ann, bob := s.signIn(t, "ann", 0), s.signIn(t, "bob", 0)
	small, large, huge, left := s.room(t, ann, "small").ID, s.room(t, ann, "large").ID, s.room(t, ann, "huge").ID, s.room(t, bob, "left").ID
	s.fill(t, ann, small, "x", 20)
	s.fill(t, ann, large, "x", 490)
	s.fill(t, ann, huge, "x", 501)
	epoch, err := s.chat.Epoch(context.Background())
	noError(t, err)
	bothEncodings(t, func(t *testing.T, e wire.Encoding) {
		recovering := func(epoch string, offsets map[string]int64) *protocol.ConnectResult {
			t.Helper()
			return dial(t, addr, e).connect(goodToken(t, "ann"), subs(epoch, offsets))
		}
		r := recovering(epoch, map[string]int64{small: 7, large: 490, left: 0})
		mustRecover(t, r, small, true, 7, 20)
		mustRecover(t, r, large, true, 490, 490)
		if len(r.Subs) != 3 || r.Subs["room:"+huge].WasRecovering {
			t.Errorf("subs: %v", r.Subs)
		}
		r = recovering(epoch, map[string]int64{small: 0, large: 0, huge: 1}) // 20 + 490 + 500 entries: only the smallest fits into the limit
		mustRecover(t, r, small, true, 0, 20)
		mustRecover(t, r, large, false, 0, 490)
		mustRecover(t, r, huge, false, 1, 501)
		r = recovering(epoch, map[string]int64{small: 10, large: 0}) // 10 + 490 entries: exactly the limit
		mustRecover(t, r, small, true, 10, 20)
		mustRecover(t, r, large, true, 0, 490)
		mustRecover(t, recovering(epoch, map[string]int64{huge: 1}), huge, true, 1, 501)
		mustRecover(t, recovering(epoch, map[string]int64{huge: 0}), huge, false, 0, 501)
		mustRecover(t, recovering(epoch, map[string]int64{small: 21}), small, false, 0, 20)
		mustRecover(t, recovering("another", map[string]int64{small: 7}), small, false, 7, 20)
		mustRecover(t, recovering("", map[string]int64{small: 20}), small, false, 20, 20)
	})
}

// TestRecoverBytes fills a room with entries of about 12 KB each. Recovery must stop at the limit in bytes, long before
// the limit of 500 entries.
func TestRecoverBytes(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	ann := s.signIn(t, "ann", 0)
	room, other := s.room(t, ann, "long").ID, s.room(t, ann, "short").ID
	s.fill(t, ann, room, strings.Repeat("长", 4000), 30)
	s.fill(t, ann, other, "x", 40)
	epoch, err := s.chat.Epoch(context.Background())
	noError(t, err)
	addr := s.listen(t)
	r := dial(t, addr, wire.JSON).connect(goodToken(t, "ann"), subs(epoch, map[string]int64{room: 0, other: 0}))
	mustRecover(t, r, room, false, 0, 30)
	mustRecover(t, r, other, true, 0, 40)
	r = dial(t, addr, wire.JSON).connect(goodToken(t, "ann"), subs(epoch, map[string]int64{room: 10}))
	mustRecover(t, r, room, true, 10, 30)
}

// TestRecoverPacketStates has a client miss packets. The reply must have the state of each, with the user's own share.
func TestRecoverPacketStates(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	ann, bob := s.signIn(t, "ann", 1000), s.signIn(t, "bob", 0)
	room := s.room(t, ann, "hall").ID
	call[wire.JoinReply](t, s, bob, "join", wire.JoinRequest{Room: room})
	sent := call[wire.SendPacketReply](t, s, ann, "send_packet", wire.SendPacketRequest{Room: room, Key: "p", Total: 100, Count: new(2)})
	won := call[wire.GrabReply](t, s, bob, "grab", wire.GrabRequest{Packet: sent.Packet.ID})
	epoch, err := s.chat.Epoch(context.Background())
	noError(t, err)
	r := dial(t, s.listen(t), wire.JSON).connect(goodToken(t, "bob"), subs(epoch, map[string]int64{room: 0}))
	states := dataOf(t, r).PacketStates
	if len(states) != 1 || states[0].Packet != sent.Packet.ID || states[0].Claimed != 1 || states[0].Mine == nil || states[0].Mine.Amount != won.Amount {
		t.Errorf("states %+v, want one with the %d won", states, won.Amount)
	}
	if pubs := r.Subs["room:"+room].Publications; len(pubs) != 1 {
		t.Errorf("publications: %v", pubs)
	}
}

// TestNothingLostAtConnect reconnects clients while texts are sent to their room. Each client must receive every entry
// exactly once, in the connect reply or after it. Nothing may come before the reply.
func TestNothingLostAtConnect(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	addr := s.listen(t)
	ann := s.signIn(t, "ann", 0)
	room := s.room(t, ann, "busy").ID
	const all = 300
	var sending sync.WaitGroup
	sending.Go(func() {
		for i := range all {
			if _, err := s.chat.Send(context.Background(), ann.User, chat.Message{Room: room, Key: fmt.Sprint("k", i), Text: "x"}); err != nil {
				t.Error(err)
				return
			}
		}
	})
	t.Cleanup(sending.Wait) // not before the parallel subtests begin, which connect meanwhile
	bothEncodings(t, func(t *testing.T, e wire.Encoding) {
		t.Parallel()
		offset, epoch := uint64(0), ""
		for offset < all {
			c := dial(t, addr, e)
			asked := "{}"
			if epoch != "" {
				asked = subs(epoch, map[string]int64{room: int64(offset)})
			}
			r := c.connect(goodToken(t, "ann"), asked) // fails if a message comes before the reply
			sub := r.Subs["room:"+room]
			if epoch != "" {
				mustRecover(t, r, room, true, offset, sub.Offset)
			}
			offset, epoch = sub.Offset, sub.Epoch
			for range 20 {
				if offset == all {
					break
				}
				p := c.push(func(p *protocol.Push) bool { return p.Pub != nil })
				if p.Channel != "room:"+room || p.Pub.Offset != offset+1 {
					t.Fatalf("got %s %d after %d", p.Channel, p.Pub.Offset, offset)
				}
				offset++
			}
			_ = c.ws.Close()
		}
	})
}
