package web

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"hongbao/hub"
	"hongbao/web/user/api"
	"hongbao/web/user/push"
	"hongbao/web/wire"
)

// TestRecoveredAsStored edits, recalls and reacts at random while a client reconnects now and then. What the client
// recovers from memory must equal the store's content, byte for byte, and must contain no recalled text.
func TestRecoveredAsStored(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	addr := s.listen(t)
	ann := s.signIn(t, "ann", 0)
	room := s.room(t, ann, "room").ID
	epoch, err := s.chat.Epoch(t.Context())
	noError(t, err)
	connected(t, addr, wire.JSON, "ann") // so that the hub keeps the room's messages
	random := rand.New(rand.NewPCG(1, 2))
	secrets := map[int64]string{} // texts that are not recalled, edited or not, by seq
	var recalled []string
	var last int64
	for i := range 120 {
		last = stir(t, s, ann, room, random, i, secrets, &recalled)
		if i%12 != 0 {
			continue
		}
		c := dial(t, addr, wire.JSON)
		got := c.connect(goodToken(t, "ann"), subs(epoch, map[string]int64{room: 0})).Subs[wire.RoomChannel(room)]
		stored, err := push.Repair{Store: s.store}.Fetch(t.Context(), []hub.Span{{Topic: push.RoomTopic(room), Through: last}})
		noError(t, err)
		want := stored[push.RoomTopic(room)]
		if len(got.Publications) != len(want) {
			t.Fatalf("after step %d: %d publications, %d are stored", i, len(got.Publications), len(want))
		}
		for n, p := range got.Publications {
			if string(p.Data) != string(want[n].Data) {
				t.Fatalf("after step %d:\n%s is given,\n%s is stored", i, p.Data, want[n].Data)
			}
			for _, text := range recalled {
				if strings.Contains(string(p.Data), text) {
					t.Fatalf("%s was recalled, and is given: %s", text, p.Data)
				}
			}
		}
		_ = c.ws.Close()
	}
	if reads := s.hub.Stats().Resumes; reads != 1 {
		t.Errorf("the room was read %d times", reads)
	}
}

// stir makes one random change in the room and returns its seq.
func stir(t *testing.T, s *testServer, c api.Caller, room string, random *rand.Rand, i int, texts map[int64]string, recalled *[]string) int64 {
	t.Helper()
	secret := fmt.Sprintf("secret-%d-", i)
	var some int64
	for some = range texts { // any of the texts
		break
	}
	switch at := random.IntN(5); {
	case at == 0 && some != 0:
		reply := call[wire.SeqReply](t, s, c, "edit", wire.EditRequest{Room: room, Seq: some, Text: secret})
		texts[some] += " " + secret
		return reply.Seq
	case at == 1 && some != 0:
		reply := call[wire.SeqReply](t, s, c, "recall", wire.RecallRequest{Room: room, Seq: some})
		*recalled = append(*recalled, strings.Fields(texts[some])...)
		delete(texts, some)
		return reply.Seq
	case at == 2 && some != 0:
		call[wire.ReactReply](t, s, c, "react", wire.ReactRequest{Room: room, Seq: some, Emoji: "👍", On: true})
	default:
		reply := s.say(t, c, room, secret)
		texts[reply.Seq] = secret
		return reply.Seq
	}
	last, err := s.store.LastSeqs(context.Background(), []string{room})
	noError(t, err)
	return last[room]
}
