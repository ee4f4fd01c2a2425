package web

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/web/user/auth"
	"hongbao/web/wire"
)

// TestEveryErrorOfTheEnvelope causes each error that connect, refresh and the other commands of the Centrifugo protocol
// can have.
func TestEveryErrorOfTheEnvelope(t *testing.T) {
	t.Parallel()
	bothEncodings(t, func(t *testing.T, e wire.Encoding) {
		s := newErrorFixture(t, e)
		addr := s.listen(t)
		connect := func(user string) string { return `"connect":{"token":"` + goodToken(t, user) + `"}` }
		expired := mint(t, auth.Claims{User: "ann"}, -time.Minute)
		c := dial(t, addr, e)
		answers := func(request string, code wire.Code) {
			t.Helper()
			s.last++
			c.send(fmt.Sprintf(`{"id":%d,%s}`, s.last, request))
			if r := c.reply(s.last); r.Error == nil || r.Error.Code != uint32(code) {
				t.Errorf("%.60s: %v, want %d %s", request, r, code, code.Word())
			}
		}
		answers(`"connect":{"token":"`+expired+`"}`, wire.CodeTokenExpired)
		s.faults.set(chat.ErrUnavailable)
		answers(connect("new"), wire.CodeUnavailable)
		s.faults.set(errors.New("nobody has heard of this one"))
		answers(connect("new"), wire.CodeInternal)
		s.faults.set(nil)
		s.last++
		c.send(fmt.Sprintf(`{"id":%d,%s}`, s.last, connect("ann")))
		if r := c.reply(s.last); r.Connect == nil {
			t.Fatalf("after the faults: %v", r)
		}
		answers(connect("ann"), wire.CodeBadRequest)
		answers(`"refresh":{"token":"`+expired+`"}`, wire.CodeTokenExpired)
		answers(`"subscribe":{"channel":"room:`+s.rooms["plain"]+`"}`, wire.CodeAlreadySubscribed)
		for _, request := range []string{
			`"subscribe":{"channel":"room:` + s.rooms["outside"] + `"}`, `"unsubscribe":{"channel":"room:` + s.rooms["plain"] + `"}`,
			`"publish":{"channel":"room:` + s.rooms["plain"] + `","data":{}}`, `"presence":{"channel":"room:` + s.rooms["plain"] + `"}`,
			`"presence_stats":{"channel":"room:` + s.rooms["plain"] + `"}`, `"history":{"channel":"room:` + s.rooms["plain"] + `"}`,
			`"sub_refresh":{"channel":"room:` + s.rooms["plain"] + `","token":"x"}`,
		} {
			answers(request, wire.CodeNotAvailable)
		}
		answers(`"rpc":{"method":"no_such_command"}`, wire.CodeUnknownCommand)
	})
}
