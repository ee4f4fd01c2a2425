package web

import (
	"strings"
	"testing"

	"hongbao/web/wire"
)

// TestMentionAllIsRare mentions all members of a room until the rate of the room is used up. Requests of users that may not, repeated requests and other
// rooms must not count.
func TestMentionAllIsRare(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, withRates, withoutRefill)
	ann, bob, room := s.twoInARoom(t)
	other := s.room(t, ann, "other").ID
	toAll := func(room, key string) wire.SendRequest {
		return wire.SendRequest{Room: room, Key: key, Text: "@all", MentionAll: true}
	}
	for range 5 {
		if got := s.refused(t, bob, "send", encoded(t, toAll(room, "no"))).Message; got != "forbidden field=mention_all" {
			t.Errorf("a plain member gets %q", got)
		}
	}
	first := call[wire.SendReply](t, s, ann, "send", toAll(room, "k1"))
	for range 3 {
		if again := call[wire.SendReply](t, s, ann, "send", toAll(room, "k1")); !again.Dup || again.Seq != first.Seq {
			t.Errorf("the same again: %+v", again)
		}
	}
	for _, key := range []string{"k2", "k3"} {
		call[wire.SendReply](t, s, ann, "send", toAll(room, key))
	}
	if got := s.refused(t, ann, "send", encoded(t, toAll(room, "k4"))).Message; got != "rate_limited retry_after_ms=1200000" {
		t.Errorf("the fourth within an hour gets %q", got)
	}
	if again := call[wire.SendReply](t, s, ann, "send", toAll(room, "k1")); !again.Dup {
		t.Errorf("the first again, after the rate is used up: %+v", again)
	}
	call[wire.SendReply](t, s, ann, "send", toAll(other, "k5"))
	call[wire.SendReply](t, s, ann, "send", wire.SendRequest{Room: room, Key: "k6", Text: "to nobody"})
	found := call[wire.MentionsReply](t, s, bob, "mentions", wire.MentionsRequest{}).Mentions
	if len(found) != 3 || !strings.Contains(string(found[0].Entry.Body), `"mention_all":true`) {
		t.Errorf("bob finds %+v", found)
	}
}
