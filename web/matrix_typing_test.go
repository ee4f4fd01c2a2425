package web

import (
	"testing"

	"github.com/centrifugal/protocol"

	"hongbao/web/wire"
)

// TestAuthorisationOfTyping sends typing as every subject. Other members must see it only if the subject may write in
// the room. A user with an invalid token must not be able to connect.
func TestAuthorisationOfTyping(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		w := newPermissionServer(t)
		addr := w.listen(t)
		for i, who := range subjects {
			for _, kind := range []string{"public", "private"} {
				c := w.prepare(t, trial{name: "typing"}, i, kind)
				code := who.verdict(writers, kind == "private")
				client := dial(t, addr, wire.JSON)
				switch code {
				case wire.CodeTokenExpired:
					client.send(`{"id":1,"connect":{"token":"` + c.token + `"}}`)
					mustFail(t, client.next(), code)
					continue
				case wire.CodeUnauthorized:
					client.send(`{"id":1,"connect":{"token":"` + c.token + `"}}`)
					client.mustClose(wire.CloseInvalidToken)
					continue
				}
				client.connect(c.token, "{}")
				if c.seenTyping(addr, client, code == 0) != (code == 0) {
					t.Errorf("%s in a %s room is seen typing, and should not be", who.name, kind)
				}
			}
		}
	})
}

// seenTyping has the subject type, and then the owner. Another member watches for both; the owner's marks the end. It
// reports whether the subject's typing was seen.
func (c *cell) seenTyping(addr string, subject *rawClient, wanted bool) bool {
	c.t.Helper()
	watcher, _ := connected(c.t, addr, wire.JSON, c.other.User.ID)
	owner, _ := connected(c.t, addr, wire.JSON, c.owner.User.ID)
	for _, typist := range []*rawClient{subject, owner} {
		typist.send(`{"send":{"data":{"typing":{"room":"` + c.room + `"}}}}`)
		rpc[wire.WalletReply](typist, 2, "wallet", wire.WalletRequest{})
	}
	seen := map[string]bool{}
	for !seen[c.owner.User.ID] || wanted && !seen[c.me.User.ID] {
		push := watcher.push(func(p *protocol.Push) bool { return p.Message != nil && messageOf(c.t, p).Typing != nil })
		seen[messageOf(c.t, push).Typing.User] = true
	}
	return seen[c.me.User.ID]
}
