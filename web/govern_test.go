package web

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/centrifugal/protocol"

	"hongbao/web/wire"
)

// play runs a command and returns the data of its reply, or its error. All times in the data are replaced by 0.
func (c *rawClient) play(id uint32, method, request string) string {
	c.t.Helper()
	c.send(fmt.Sprintf(`{"id":%d,"rpc":{"method":"%s","data":%s}}`, id, method, request))
	r := c.reply(id)
	if r.Error != nil {
		return fmt.Sprint(r.Error.Code, " ", r.Error.Message)
	}
	return timeless(string(r.Rpc.Data))
}

var times = regexp.MustCompile(`"(at|until|edited_at|created_at|muted_until)":\d+`)

func timeless(text string) string { return times.ReplaceAllString(text, `"$1":0`) }

// entries reads the pushed entries of a room from seq first to last, and checks that none is missing. It returns the
// kind and body of each.
func (c *rawClient) entries(room string, first, last int64) (all []string) {
	c.t.Helper()
	for seq := first; seq <= last; seq++ {
		p := c.push(func(p *protocol.Push) bool { return p.Pub != nil && p.Channel == "room:"+room })
		var e wire.Entry
		if err := json.Unmarshal(p.Pub.Data, &e); err != nil {
			c.t.Fatal(err)
		}
		if int64(p.Pub.Offset) != seq || e.Seq != seq {
			c.t.Fatalf("publication %d with entry %d, where %d was due", p.Pub.Offset, e.Seq, seq)
		}
		all = append(all, e.Kind+" "+timeless(string(e.Body)))
	}
	return all
}

// mustLeave checks that the next two pushes are those that take the client out of a room: left, then unsubscribe.
func (c *rawClient) mustLeave(room, reason string) {
	c.t.Helper()
	p := c.next().Push
	if p == nil || p.Message == nil || messageOf(c.t, p).Left == nil || *messageOf(c.t, p).Left != (wire.LeftPush{Room: room, Reason: reason}) {
		c.t.Fatalf("got %v, want left", p)
	}
	p = c.next().Push
	if p == nil || p.Unsubscribe == nil || p.Channel != "room:"+room || p.Unsubscribe.Code != wire.UnsubscribeCode || p.Unsubscribe.Reason != reason {
		c.t.Fatalf("got %v, want unsubscribe", p)
	}
}

// TestGoverning runs every command about members, texts and the room itself, from several sockets, and checks the
// replies and pushes.
func TestGoverning(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	addr := s.listen(t)
	bothEncodings(t, func(t *testing.T, e wire.Encoding) {
		suffix := "-" + t.Name()[len("TestGoverning/"):]
		a, b := "ann"+suffix, "bob"+suffix
		sockets := map[string]*rawClient{}
		for _, user := range []string{a, b} {
			sockets[user], _ = connected(t, addr, e, user)
			sockets[user].keep = true
		}
		var made wire.CreateRoomReply
		if err := json.Unmarshal([]byte(sockets[a].play(2, "create_room", `{"key":"k","name":"Hall","kind":"private"}`)), &made); err != nil {
			t.Fatal(err)
		}
		in := func(rest string) string { return `{"room":"` + made.Room.ID + `"` + rest + `}` }
		hall := func(rest string) string {
			return `{"room":{"id":"` + made.Room.ID + `","name":"Hall","kind":"private",` + rest + `}}`
		}
		for i, step := range []struct{ by, method, request, want string }{
			{b, "invite", in(`,"users":["` + a + `"]`), "1001 not_found"},
			{a, "invite", in(`,"users":["` + b + `"]`), `{}`},
			{a, "invite", in(`,"users":["` + b + `","` + b + `"]`), `{}`},
			{a, "send", in(`,"key":"t","text":"hi","data":{ "n" : 1 },"reply_to":1,"mentions":["` + b + `"]`), ""},
			{b, "react", in(`,"seq":2,"emoji":"🧧","on":true`), `{}`},
			{b, "react", in(`,"seq":2,"emoji":"🧧","on":true`), `{}`},
			{b, "edit", in(`,"seq":2,"text":"hello"`), "103 forbidden"},
			{a, "edit", in(`,"seq":2,"text":"hello"`), `{"seq":4}`},
			{a, "edit", in(`,"seq":2,"text":"hello"`), `{"seq":4}`},
			{b, "history", in(`,"after":1,"limit":1`), "hello"},
			{a, "recall", in(`,"seq":2`), `{"seq":5}`},
			{a, "recall", in(`,"seq":2`), `{"seq":5}`},
			{b, "react", in(`,"seq":2,"emoji":"🧧","on":false`), "1008 conflict"},
			{b, "history", in(`,"after":1,"limit":1`), `"body":{"recalled":true}`},
			{b, "update_room", in(`,"announcement":"news"`), "103 forbidden"},
			{a, "update_room", in(`,"announcement":"news"`), hall(`"announcement":"news","members":2,"last_seq":6,"created_at":0,"role":"owner"`)},
			{a, "set_role", in(`,"user":"` + b + `","role":"admin"`), `{}`},
			{a, "mute", in(`,"user":"` + b + `","seconds":60`), `{}`},
			{b, "send", in(`,"key":"m","text":"hi"`), "1003 muted"},
			{a, "mute", in(`,"user":"` + b + `","seconds":0`), `{}`},
			{b, "kick", in(`,"user":"` + a + `"`), "103 forbidden"},
			{b, "presence", in(``), `{"online":2,"users":["` + a + `","` + b + `"]}`},
			{b, "members", in(`,"limit":1`), `"role":"owner","online":true`},
			{a, "kick", in(`,"user":"` + b + `"`), `{}`},
			{b, "send", in(`,"key":"m","text":"hi"`), "1002 not_member"},
			{a, "kick", in(`,"user":"` + b + `","ban":true`), `{}`},
			{b, "history", in(``), "1004 banned"},
			{a, "unban", in(`,"user":"` + b + `"`), `{}`},
			{b, "history", in(``), "1002 not_member"},
		} {
			if got := sockets[step.by].play(uint32(i+3), step.method, step.request); !strings.Contains(got, step.want) {
				t.Fatalf("%s by %s: got %s, want %s", step.method, step.by, got, step.want)
			}
		}
		want := []string{
			`member {"user":"` + b + `","change":"invited","by":"` + a + `"}`,
			`text {"text":"hi","data":{"n":1},"reply_to":1,"mentions":["` + b + `"]}`,
			`react {"target":2,"emoji":"🧧","on":true,"count":1}`,
			`edit {"target":2,"text":"hello"}`,
			`recall {"target":2}`,
			`room {"announcement":"news"}`,
			`member {"user":"` + b + `","change":"role","by":"` + a + `","role":"admin"}`,
			`member {"user":"` + b + `","change":"muted","by":"` + a + `","until":0}`,
			`member {"user":"` + b + `","change":"muted","by":"` + a + `"}`,
			`member {"user":"` + b + `","change":"kicked","by":"` + a + `"}`,
			`member {"user":"` + b + `","change":"banned","by":"` + a + `"}`,
		}
		for user, last := range map[string]int{a: 11, b: 10} {
			c := sockets[user]
			c.keep = false
			c.replies, c.kept = append(c.kept, c.replies...), nil
			if p := c.push(isSubscribe); p.Channel != "room:"+made.Room.ID || p.Subscribe.Offset != 0 {
				t.Errorf("%s: first came %v", user, p)
			}
			if got := c.entries(made.Room.ID, 1, int64(last)); !slices.Equal(got, want[:last]) {
				t.Errorf("%s got\n%s\nwant\n%s", user, strings.Join(got, "\n"), strings.Join(want[:last], "\n"))
			}
		}
		sockets[b].mustLeave(made.Room.ID, "kicked")

		// A recalled text must also be missing from what a client recovers.
		epoch, err := s.chat.Epoch(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		back := dial(t, addr, e).connect(goodToken(t, a), subs(epoch, map[string]int64{made.Room.ID: 1}))
		recovered := back.Subs["room:"+made.Room.ID].Publications
		if len(recovered) != 10 || !strings.Contains(string(recovered[0].Data), `"body":{"recalled":true}`) ||
			!strings.Contains(string(recovered[2].Data), `"body":{"target":2,"recalled":true}`) {
			t.Errorf("recovered %v", recovered)
		}

		if got := sockets[a].play(100, "delete_room", in(``)); got != `{}` {
			t.Errorf("delete_room: %s", got)
		}
		if got := sockets[a].play(101, "history", in(``)); got != "1001 not_found" {
			t.Errorf("history of a deleted room: %s", got)
		}
	})
}

// TestDirect has two users open a direct room with each other. They must get the same room, and both must be in it.
func TestDirect(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	addr := s.listen(t)
	bothEncodings(t, func(t *testing.T, e wire.Encoding) {
		suffix := "-" + t.Name()[len("TestDirect/"):]
		ann, _ := connected(t, addr, e, "ann"+suffix)
		bob, _ := connected(t, addr, e, "bob"+suffix)
		room := rpc[wire.DirectReply](ann, 2, "direct", wire.DirectRequest{User: "bob" + suffix}).Room
		if room.Kind != "direct" || room.Members != 2 || room.Role != "member" || room.Name != "" {
			t.Errorf("room %+v", room)
		}
		if p := bob.push(isSubscribe); p.Channel != "room:"+room.ID || p.Subscribe.Offset != 0 {
			t.Errorf("subscribed %v", p)
		}
		if again := rpc[wire.DirectReply](bob, 2, "direct", wire.DirectRequest{User: "ann" + suffix}).Room; again.ID != room.ID {
			t.Errorf("another room: %+v", again)
		}
		rpc[wire.SendReply](ann, 3, "send", wire.SendRequest{Room: room.ID, Key: "k", Text: "hi"})
		if p := bob.push(isPub); p.Pub.Offset != 1 {
			t.Errorf("publication %v", p)
		}
		bob.send(`{"id":4,"rpc":{"method":"leave","data":{"room":"` + room.ID + `"}}}`)
		if p := bob.push(isUnsubscribe); p.Unsubscribe.Reason != "left" {
			t.Errorf("unsubscribed %v", p)
		}
		if got := ann.play(5, "send", `{"room":"`+room.ID+`","key":"gone","text":"come back"}`); got != "1020 contact_refused" {
			t.Errorf("send to a user that has left: %s", got)
		}
		bob.send(`{"id":5,"rpc":{"method":"direct","data":{"user":"ann` + suffix + `"}}}`)
		p := bob.push(func(p *protocol.Push) bool { return isSubscribe(p) || isPub(p) })
		if p.Subscribe == nil || p.Subscribe.Offset != 2 {
			t.Errorf("back: %v", p)
		}
		if got := bob.entries(room.ID, 3, 3); got[0] != `member {"user":"bob`+suffix+`","change":"invited","by":"bob`+suffix+`"}` {
			t.Errorf("back: %s", got)
		}
	})
}
