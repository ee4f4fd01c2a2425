package web

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/centrifugal/protocol"

	"hongbao/web/user/auth"
	"hongbao/web/wire"
)

func dataOf(t *testing.T, r *protocol.ConnectResult) (data wire.ConnectData) {
	t.Helper()
	noError(t, json.Unmarshal(r.Data, &data))
	return data
}

func TestConnectReply(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, func(o *Options) { o.Version = "1.2.3" })
	addr := s.listen(t)
	ann, bob := s.signIn(t, "ann", 500), s.signIn(t, "bob", 0)
	room := s.room(t, ann, "hall")
	s.room(t, bob, "not hers")
	s.say(t, ann, room.ID, "one")
	call[wire.JoinReply](t, s, bob, "join", wire.JoinRequest{Room: room.ID})
	s.say(t, bob, room.ID, "two")

	bothEncodings(t, func(t *testing.T, e wire.Encoding) {
		before := time.Now()
		_, r := connected(t, addr, e, "ann")
		if r.Client == "" || r.Session == "" || r.Node == "" || r.Version != "1.2.3" {
			t.Errorf("names: %v", r)
		}
		if !r.Expires || r.Ttl < 3590 || r.Ttl > 3600 || r.Ping != 25 || !r.Pong || r.Time < before.UnixMilli() {
			t.Errorf("times: %v", r)
		}
		sub := r.Subs["room:"+room.ID]
		if len(r.Subs) != 1 || sub == nil || !sub.Recoverable || !sub.Positioned || sub.Epoch == "" || sub.Offset != 2 ||
			sub.Recovered || sub.WasRecovering || len(sub.Publications) > 0 {
			t.Errorf("subs: %v", r.Subs)
		}
		data := dataOf(t, r)
		if data.User != (wire.User{ID: "ann", Name: "Name of ann"}) || data.Balance != 500 || len(data.NextCommitment) != 64 ||
			data.Currency != (wire.Currency{Code: "CNY", Exponent: 2}) || data.Limits != wire.DefaultLimits() {
			t.Errorf("data: %+v", data)
		}
		if len(data.Rooms) != 1 || data.Rooms[0].ID != room.ID || data.Rooms[0].Role != "owner" || data.Rooms[0].ReadSeq != 1 ||
			data.Rooms[0].Unread != 1 || data.Rooms[0].LastSeq != 2 || data.Rooms[0].Members != 2 {
			t.Errorf("rooms: %+v", data.Rooms)
		}
	})
}

func TestConnectRefused(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	addr := s.listen(t)
	bothEncodings(t, func(t *testing.T, e wire.Encoding) {
		t.Run("expired, then a new one", func(t *testing.T) {
			c := dial(t, addr, e)
			c.send(`{"id":1,"connect":{"token":"` + mint(t, auth.Claims{User: "ann"}, -time.Second) + `"}}`)
			mustFail(t, c.next(), wire.CodeTokenExpired)
			c.connect(goodToken(t, "ann"), "{}")
		})
		t.Run("expired, then something else", func(t *testing.T) {
			c := dial(t, addr, e)
			c.send(`{"id":1,"connect":{"token":"`+mint(t, auth.Claims{User: "ann"}, -time.Second)+`"}}`, `{"id":2,"rpc":{"method":"wallet"}}`)
			mustFail(t, c.next(), wire.CodeTokenExpired)
			c.mustClose(wire.CloseProtocolError)
		})
		for _, bad := range []string{"", "nonsense", goodToken(t, "ann") + "x"} {
			c := dial(t, addr, e)
			c.send(`{"id":1,"connect":{"token":"` + bad + `"}}`)
			c.mustClose(wire.CloseInvalidToken)
		}
		t.Run("the id again, at once", func(t *testing.T) {
			c, _ := connected(t, addr, e, "ann")
			c.send(`{"id":1,"rpc":{"method":"wallet"}}`)
			if r := c.next(); r.Error != nil {
				t.Error(r)
			}
		})
		t.Run("with commands behind it", func(t *testing.T) {
			for range 20 {
				c := dial(t, addr, e)
				c.send(`{"id":1,"connect":{"token":"`+goodToken(t, "ann")+`"}}`, `{"id":2,"rpc":{"method":"wallet"}}`, `{"id":3,"rpc":{"method":"fly"}}`)
				c.send(`{"id":4,"rpc":{"method":"wallet"}}`)
				if r := c.next(); r.Connect == nil {
					t.Fatalf("first came %v", r)
				}
				for range 3 {
					c.next()
				}
			}
		})
		t.Run("twice", func(t *testing.T) {
			c, _ := connected(t, addr, e, "ann")
			c.send(`{"id":2,"connect":{"token":"` + goodToken(t, "ann") + `"}}`)
			mustFail(t, c.next(), wire.CodeBadRequest)
			rpc[wire.WalletReply](c, 3, "wallet", wire.WalletRequest{})
		})
	})
}

func TestNoConnectInTime(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		s := newTestServer(t, func(o *Options) { o.ConnectWithin = 5 * time.Second })
		addr := s.listen(t)
		c := dial(t, addr, wire.JSON)
		c.send(`{}`) // a pong does not count as the connect command
		c.mustClose(wire.CloseNoConnect)

		// A client that has connected in time is not closed by this timeout.
		inTime, _ := connected(t, addr, wire.JSON, "ann")
		late := dial(t, addr, wire.JSON)
		late.mustClose(wire.CloseNoConnect)
		rpc[wire.WalletReply](inTime, 2, "wallet", wire.WalletRequest{})
	})
}

func TestRefresh(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	addr := s.listen(t)
	bothEncodings(t, func(t *testing.T, e wire.Encoding) {
		c, connected := connected(t, addr, e, "ann")
		c.send(`{"id":2,"refresh":{"token":"` + mint(t, auth.Claims{User: "ann", Name: "Renamed"}, 2*time.Hour) + `"}}`)
		r := c.next()
		if r.Id != 2 || r.Refresh == nil || r.Refresh.Client != connected.Client || !r.Refresh.Expires || r.Refresh.Ttl < 7190 || r.Refresh.Ttl > 7200 {
			t.Fatalf("refresh: %v", r)
		}
		room := rpc[wire.CreateRoomReply](c, 3, "create_room", wire.CreateRoomRequest{Key: t.Name(), Name: "n", Kind: "public"}).Room
		s.eventually(t, "ann is online", func() bool {
			online, err := s.chat.MembersOnline(t.Context(), []string{"ann"})
			return err == nil && online[0]
		})
		members := rpc[wire.MembersReply](c, 4, "members", wire.MembersRequest{Room: room.ID}).Members
		if members[0].User.Name != "Renamed" || !members[0].Online {
			t.Errorf("after a refresh with another name: %+v", members[0])
		}
		c.send(`{"id":5,"refresh":{"token":"` + mint(t, auth.Claims{User: "ann"}, -time.Second) + `"}}`)
		mustFail(t, c.next(), wire.CodeTokenExpired)
		c.send(`{"id":6,"refresh":{"token":"` + goodToken(t, "bob") + `"}}`)
		c.mustClose(wire.CloseInvalidToken)
	})
	c, _ := connected(t, addr, wire.JSON, "ann")
	c.send(`{"id":2,"refresh":{"token":"nonsense"}}`)
	c.mustClose(wire.CloseInvalidToken)
}

// TestTokenEndsInTimeAfterTheClockWasSet sets the clock back by an hour while the server runs. The socket of a token that is valid for ten seconds must
// be closed ten seconds later, not an hour later.
func TestTokenEndsInTimeAfterTheClockWasSet(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		set := time.Duration(0)
		s := newTestServer(t, func(o *Options) {
			o.RefreshGrace = time.Millisecond
			o.Now = func() time.Time { return time.Now().Add(set) }
		})
		set = time.Hour // the clock of the process, which the test cannot set, is an hour behind then
		c := dial(t, s.listen(t), wire.JSON)
		c.send(`{"id":1,"connect":{"token":"` + mint(t, auth.Claims{User: "ann"}, time.Hour+10*time.Second) + `"}}`)
		if r := c.next(); r.Connect == nil || r.Connect.Ttl != 10 {
			t.Fatalf("the reply of connect is %v", r)
		}
		began := time.Now()
		c.mustClose(wire.CloseTokenExpired)
		if after := time.Since(began); after > 11*time.Second {
			t.Errorf("closed after %v, want 10 s", after)
		}
	})
}

// TestConnectIsSlow has a store that is slow during a connect. The connect must be answered, also after ConnectWithin:
// close code 3502 would stop its client permanently.
func TestConnectIsSlow(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		s := newTestServer(t, func(o *Options) { o.ConnectWithin = 2 * time.Second })
		addr := s.listen(t)
		release, token := s.holdCommits(t), goodToken(t, "ann")
		c := dial(t, addr, wire.JSON)
		c.send(`{"id":1,"connect":{"token":"` + token + `"}}`)
		dial(t, addr, wire.JSON).mustClose(wire.CloseNoConnect) // opened after the slow one, so the slow one was not closed
		release()
		if r := c.next(); r.Connect == nil {
			t.Fatalf("after a slow connect: %v", r)
		}
		rpc[wire.WalletReply](c, 2, "wallet", wire.WalletRequest{})
	})
}

// TestTokenRunsOut keeps a socket beyond the expiry of its token. It must stay open for the grace time, and then be
// closed if the client sends no newer token.
func TestTokenRunsOut(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		s := newTestServer(t, func(o *Options) { o.RefreshGrace = time.Millisecond })
		addr := s.listen(t)
		c, refreshed := dial(t, addr, wire.JSON), dial(t, addr, wire.JSON)
		short := mint(t, auth.Claims{User: "ann"}, 10*time.Second)
		if r := c.connect(short, "{}"); !r.Expires || r.Ttl < 1 || r.Ttl > 10 {
			t.Errorf("ttl %d of a token of 10 s", r.Ttl)
		}
		refreshed.connect(short, "{}")
		refreshed.send(`{"id":2,"refresh":{"token":"` + goodToken(t, "ann") + `"}}`)
		refreshed.reply(2)
		c.mustClose(wire.CloseTokenExpired)
		rpc[wire.WalletReply](refreshed, 3, "wallet", wire.WalletRequest{})
	})
}

// TestTokenLastsLong connects with a token that is valid for longer than the reply's ttl field can express. The ttl
// must be capped.
func TestTokenLastsLong(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	addr := s.listen(t)
	long := mint(t, auth.Claims{User: "ann"}, (1<<32)*time.Second)
	bothEncodings(t, func(t *testing.T, e wire.Encoding) {
		c := dial(t, addr, e)
		if r := c.connect(long, "{}"); !r.Expires || r.Ttl != 2147483647 {
			t.Errorf("connect: ttl %d of a token of 2^32 s", r.Ttl)
		}
		c.send(`{"id":2,"refresh":{"token":"` + long + `"}}`)
		if r := c.reply(2); r.Refresh == nil || r.Refresh.Ttl != 2147483647 {
			t.Errorf("refresh with a token of 2^32 s: %v", r)
		}
	})
}
