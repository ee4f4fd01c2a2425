package web

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"hongbao/web/wire"
)

// TestEnvelopeBroken sends frames that violate the protocol, before and after connect. Each must close the connection.
// TestDecodeRefuses of package frame has the frames that cannot be decoded.
func TestEnvelopeBroken(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	addr := s.listen(t)
	wallet := func(id int) string { return fmt.Sprintf(`{"id":%d,"rpc":{"method":"wallet"}}`, id) }
	var tooMany []string
	for i := range 33 {
		tooMany = append(tooMany, wallet(i+10))
	}
	bothEncodings(t, func(t *testing.T, e wire.Encoding) {
		for name, commands := range map[string][]string{
			"no id":                      {`{"rpc":{"method":"wallet"}}`},
			"id 0":                       {`{"id":0,"rpc":{"method":"wallet"}}`},
			"no id, though a send later": {`{"rpc":{"method":"wallet"},"connect":{},"send":{}}`},
			"33 commands in a frame":     tooMany,
			"a bad one after a good one": {wallet(5), `{"subscribe":{"channel":"x"}}`},
		} {
			t.Run(name, func(t *testing.T) {
				c, _ := connected(t, addr, e, "ann")
				c.send(commands...)
				c.mustClose(wire.CloseProtocolError)
			})
		}
		for name, command := range map[string]string{
			"rpc": wallet(1), "send": `{"send":{}}`, "subscribe": `{"id":1,"subscribe":{"channel":"x"}}`, "refresh": `{"id":1,"refresh":{}}`,
		} {
			t.Run(name+" before connect", func(t *testing.T) {
				c := dial(t, addr, e)
				c.send(command)
				c.mustClose(wire.CloseProtocolError)
			})
		}
		t.Run("wrong type of frame", func(t *testing.T) {
			c := dial(t, addr, e)
			kind := websocket.BinaryMessage
			if e == wire.Protobuf {
				kind = websocket.TextMessage
			}
			c.write(kind, []byte(`{"id":1,"connect":{}}`))
			c.mustClose(wire.CloseProtocolError)
		})
		t.Run("too big", func(t *testing.T) {
			c, _ := connected(t, addr, e, "ann")
			c.send(`{"id":2,"rpc":{"method":"wallet","data":"` + strings.Repeat("x", 64<<10) + `"}}`)
			c.mustClose(websocket.CloseMessageTooBig)
		})
	})
}

// TestEnvelopeRefused sends requests that the Centrifugo protocol has and this server does not support. Each must get
// an error, and the connection must stay open.
func TestEnvelopeRefused(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	addr := s.listen(t)
	ann, bob := s.signIn(t, "ann", 0), s.signIn(t, "bob", 0)
	mine, others := s.room(t, ann, "mine"), s.room(t, bob, "others")
	bothEncodings(t, func(t *testing.T, e wire.Encoding) {
		c, _ := connected(t, addr, e, "ann")
		for i, x := range []struct {
			request string
			code    wire.Code
		}{
			{`"subscribe":{"channel":"room:` + mine.ID + `"}`, wire.CodeAlreadySubscribed},
			{`"subscribe":{"channel":"room:` + others.ID + `"}`, wire.CodeNotAvailable},
			{`"subscribe":{"channel":"room:none"}`, wire.CodeNotAvailable},
			{`"subscribe":{"channel":"news"}`, wire.CodeNotAvailable},
			{`"rpc":{"method":"fly"}`, wire.CodeUnknownCommand},
			{`"rpc":{"method":"credit","data":{"user":"ann","amount":1,"key":"k"}}`, wire.CodeUnknownCommand},
			{`"rpc":{"method":"join","data":{"room":"a\u0000b"}}`, wire.CodeBadRequest},
			// If a command has several requests, the first in the order of the schema counts, not the first in the
			// text.
			{`"rpc":{"method":"wallet"},"connect":{}`, wire.CodeBadRequest},
			{`"rpc":{"method":"wallet"},"history":{"channel":"x"}`, wire.CodeNotAvailable},
			{`"refresh":{"token":"x"},"rpc":{"method":"fly"}`, wire.CodeUnknownCommand},
		} {
			id := uint32(i + 2)
			c.send(fmt.Sprintf(`{"id":%d,"unknown":{"field":1},%s}`, id, x.request))
			mustFail(t, c.reply(id), x.code) // the other encoding's typing may arrive before it
		}
		c.send(`{"send":{"data":{"typing":{"room":"`+mine.ID+`"}}}}`, `{}`, `{"id":99,"rpc":{"method":"wallet"}}`)
		if r := c.reply(99); r.Error != nil {
			t.Errorf("after a send and a pong: %v", r)
		}
	})
}

// TestIDInFlight sends a command with the id of one that is not answered. It must be refused, because the replies could
// not be told apart. After the reply the id may be used again.
func TestIDInFlight(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		s := newTestServer(t)
		addr := s.listen(t)
		bothEncodings(t, func(t *testing.T, e wire.Encoding) {
			c, _ := connected(t, addr, e, "ann")
			create := `{"id":2,"rpc":{"method":"create_room","data":{"key":"` + t.Name() + `","name":"n","kind":"public"}}}`
			c.send(create)
			c.reply(2)
			c.send(create)
			if r := c.reply(2); r.Error != nil {
				t.Errorf("the same id again, after its answer: %v", r)
			}
			for range 200 { // on both connections at once
				c.send(`{"id":2,"rpc":{"method":"wallet"}}`)
				c.reply(2)
			}
			release := s.holdCommits(t)
			defer release()
			c.send(`{"id":3,"rpc":{"method":"create_room","data":{"key":"x`+t.Name()+`","name":"n","kind":"public"}}}`, `{"id":3,"rpc":{"method":"wallet"}}`)
			c.mustClose(wire.CloseProtocolError)
		})
	})
}

// TestOrder sends several commands. They must start in order. Only those that may overlap may be answered out of order.
func TestOrder(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	addr := s.listen(t)
	room := s.room(t, s.signIn(t, "ann", 0), "hall").ID
	bothEncodings(t, func(t *testing.T, e wire.Encoding) {
		c, _ := connected(t, addr, e, "ann")
		send := func(id int) string {
			return fmt.Sprintf(`{"id":%d,"rpc":{"method":"send","data":{"room":"%s","key":"%s-%d","text":"%d"}}}`, id, room, t.Name(), id, id)
		}
		release := s.holdCommits(t)
		c.send(send(2), `{"id":3,"rpc":{"method":"members","data":{"room":"`+room+`"}}}`, send(4), `{"id":5,"rpc":{"method":"wallet"}}`, send(6))
		if r := c.next(); r.Id != 3 || r.Error != nil {
			t.Fatalf("got %v, want the answer that need not wait", r)
		}
		release()
		var order []uint32
		for len(order) < 4 {
			if r := c.next(); r.Id != 0 {
				order = append(order, r.Id)
			}
		}
		if a, b, d := index(order, 2), index(order, 4), index(order, 6); a > b || b > d || index(order, 5) < a {
			t.Errorf("answered in the order %v", order)
		}
	})
}

func index(list []uint32, id uint32) int {
	for i, other := range list {
		if other == id {
			return i
		}
	}
	return -1
}

// TestBackPressure has a client send without waiting for replies. The server must read no faster than it answers, and
// lose nothing.
func TestBackPressure(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		s := newTestServer(t)
		addr := s.listen(t)
		room := s.room(t, s.signIn(t, "ann", 0), "hall").ID
		c, _ := connected(t, addr, wire.JSON, "ann")
		release := s.holdCommits(t)
		const all = 100
		for i := range all {
			c.send(fmt.Sprintf(`{"id":%d,"rpc":{"method":"send","data":{"room":"%s","key":"k%d","text":"%d"}}}`, i+2, room, i, i))
		}
		s.eventually(t, "32 commands in flight", func() bool { return s.inFlight("ann") == maxInFlight })
		release()
		for want := uint32(2); want < all+2; {
			r := c.next()
			if r.Id == 0 {
				continue
			}
			if r.Id != want || r.Error != nil {
				t.Fatalf("got %v, want the answer to %d", r, want)
			}
			want++
		}
		if got := s.inFlight("ann"); got != 0 {
			t.Errorf("%d in flight after all answers", got)
		}
	})
}
