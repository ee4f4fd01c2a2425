package web

import (
	"testing"
	"time"

	"hongbao/web/user/auth"
	"hongbao/web/wire"
)

// TestPersonOfTheTokenGrabs grabs packets that pay one share a person: over sockets, over HTTP, and after a refresh with another person. What
// the request itself says of a person must not count.
func TestPersonOfTheTokenGrabs(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		s := newTestServer(t)
		addr := s.listen(t)
		ann := s.signIn(t, "ann", 1000)
		room := s.room(t, ann, "hall").ID
		for _, user := range []string{"mei1", "mei2"} {
			call[wire.JoinReply](t, s, s.signIn(t, user, 0), "join", wire.JoinRequest{Room: room})
		}
		send := func(key string) string {
			return call[wire.SendPacketReply](t, s, ann, "send_packet", wire.SendPacketRequest{Room: room, Key: key, Total: 100, Count: new(5), OnePerPerson: true}).Packet.ID
		}
		token := func(user, person string) string { return mint(t, auth.Claims{User: user, Person: person}, time.Hour) }
		first, second := send("first"), send("second")
		one, two := dial(t, addr, wire.JSON), dial(t, addr, wire.Protobuf)
		one.connect(token("mei1", "mei"), "{}")
		two.connect(token("mei2", "mei"), "{}")
		answers := func(name string, got wire.GrabReply, outcome, user string) {
			t.Helper()
			if got.Outcome != outcome || got.User != user {
				t.Errorf("%s: %+v, want %s %q", name, got, outcome, user)
			}
		}
		answers("the first account", rpc[wire.GrabReply](one, 2, "grab", wire.GrabRequest{Packet: first}), "won", "")
		answers("the second account", rpc[wire.GrabReply](two, 2, "grab", wire.GrabRequest{Packet: first}), "elsewhere", "mei1")
		over := func(user, person string) wire.GrabReply {
			return mustAnswer[wire.GrabReply](t, ask(t, s.Handler(), "POST", "/v1/commands/grab", token(user, person), `{"packet":"`+second+`"}`), 200)
		}
		answers("over HTTP", over("mei2", "mei"), "won", "")
		answers("over HTTP, the other account", over("mei1", "mei"), "elsewhere", "mei2")
		spoofed := mustAnswer[wire.GrabReply](t, ask(t, s.Handler(), "POST", "/v1/commands/grab", token("mei1", "mei"), `{"packet":"`+second+`","person":"ann"}`), 200)
		answers("a person in the request", spoofed, "elsewhere", "mei2")

		two.send(`{"id":3,"refresh":{"token":"` + token("mei2", "somebody else") + `"}}`)
		two.reply(3)
		answers("after a refresh with another person", rpc[wire.GrabReply](two, 4, "grab", wire.GrabRequest{Packet: first}), "won", "")
		answers("the same again", rpc[wire.GrabReply](two, 5, "grab", wire.GrabRequest{Packet: first}), "already", "")
	})
}
