package web

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"hongbao/chat"
	"hongbao/web/user/auth"
	"hongbao/web/user/auth/authtest"
	"hongbao/web/wire"
)

// later returns a token issued nine seconds from now, without waiting: it sets the time of issue.
func later(t *testing.T, user string) string {
	t.Helper()
	now := time.Now().Unix()
	return authtest.Sign(t, jwt.SigningMethodHS256, testSecret, jwt.MapClaims{"sub": user, "name": "Name of " + user, "iat": now + 9, "exp": now + 600})
}

// revoke disconnects the user, as an administrator.
func revoke(t *testing.T, s *testServer, user string) {
	t.Helper()
	admin := mint(t, auth.Claims{User: "root", Scope: auth.DefaultAdminScope}, time.Hour)
	mustAnswer[wire.DisconnectReply](t, ask(t, s.Handler(), "POST", "/v1/admin/disconnect", admin, `{"user":"`+user+`"}`), 200)
}

// TestRevokedEverywhere disconnects a user. All their sockets must be closed on every instance, and their tokens
// refused. A newer token must be accepted.
func TestRevokedEverywhere(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		a, b := twoInstances(t)
		addrs := map[*testServer]string{a: a.listen(t), b: b.listen(t)}
		here, _ := connected(t, addrs[a], wire.JSON, "ann")
		there, _ := connected(t, addrs[b], wire.Protobuf, "ann")
		other, _ := connected(t, addrs[b], wire.JSON, "bob")
		old := goodToken(t, "ann")
		silent := authtest.Sign(t, jwt.SigningMethodHS256, testSecret, jwt.MapClaims{"sub": "ann", "exp": time.Now().Unix() + 600})
		mustAnswer[wire.WalletReply](t, ask(t, b.Handler(), "POST", "/v1/commands/wallet", silent, ""), 200)

		revoke(t, a, "ann")
		here.mustClose(wire.CloseRevoked)
		there.mustClose(wire.CloseRevoked)
		rpc[wire.WalletReply](other, 2, "wallet", wire.WalletRequest{})
		for _, s := range []*testServer{a, b} {
			s.eventually(t, "the word of it", func() bool {
				_, err := s.chat.Admit(t.Context(), chat.Profile{User: chat.User{ID: "ann", Name: "Name of ann"}}, time.Now().Add(-time.Hour))
				return err != nil
			})
			for name, token := range map[string]string{"old": old, "without iat": silent} {
				if answer := mustAnswer[wire.ErrorBody](t, ask(t, s.Handler(), "POST", "/v1/commands/wallet", token, ""), 401); answer.Error.Code != wire.CodeUnauthorized {
					t.Errorf("%s: %+v", name, answer)
				}
				c := dial(t, addrs[s], wire.JSON)
				c.send(`{"id":1,"connect":{"token":"` + token + `"}}`)
				c.mustClose(wire.CloseInvalidToken)
				ws, _, err := tryDial(addrs[s], wire.JSON, http.Header{"Authorization": {"Bearer " + token}})
				noError(t, err)
				c = &rawClient{t: t, ws: ws}
				c.send(`{"id":1,"connect":{}}`)
				c.mustClose(wire.CloseInvalidToken)
			}
			mustAnswer[wire.WalletReply](t, ask(t, s.Handler(), "POST", "/v1/commands/wallet", later(t, "ann"), ""), 200)
			c := dial(t, addrs[s], wire.JSON)
			c.connect(later(t, "ann"), "{}")
			c.send(`{"id":2,"refresh":{"token":"` + old + `"}}`)
			c.mustClose(wire.CloseInvalidToken)
		}
	})
}

// TestRevokedBeforeSeen disconnects administrators and users that have never connected. Both must be possible. Only
// valid user ids may be accepted.
func TestRevokedBeforeSeen(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		s := newTestServer(t)
		h := s.Handler()
		fresh, root := goodToken(t, "new"), mint(t, auth.Claims{User: "root", Scope: auth.DefaultAdminScope}, time.Hour)
		alone, _ := connected(t, s.listen(t), wire.JSON, "ann")
		revoke(t, s, "ann")
		alone.mustClose(wire.CloseRevoked) // a server with Alone learns of it by the signal only
		revoke(t, s, "new")
		mustAnswer[wire.ErrorBody](t, ask(t, h, "POST", "/v1/commands/wallet", fresh, ""), 401)
		revoke(t, s, "root")
		for _, c := range []struct{ method, path string }{{"POST", "credit"}, {"GET", "stats"}, {"GET", "audit"}, {"POST", "audit"}, {"GET", "heads"}, {"POST", "disconnect"}} {
			mustAnswer[wire.ErrorBody](t, ask(t, h, c.method, "/v1/admin/"+c.path, root, `{"user":"x"}`), 401)
		}
		another := mint(t, auth.Claims{User: "root2", Scope: auth.DefaultAdminScope}, time.Hour)
		for _, body := range []string{`{}`, `{"user":""}`, `{"user":"a b"}`, `{"user":7}`} {
			mustAnswer[wire.ErrorBody](t, ask(t, h, "POST", "/v1/admin/disconnect", another, body), 400)
		}
	})
}

// notingStore is a store that calls a function of the test after it has recorded a user.
type notingStore struct {
	chat.Store
	noted func() // nil: nothing is called
}

func (s *notingStore) PutUser(ctx context.Context, p chat.Profile, issued int64) (chat.User, int64, error) {
	stored, notBefore, err := s.Store.PutUser(ctx, p, issued)
	if s.noted != nil {
		s.noted()
	}
	return stored, notBefore, err
}

// TestRevokedWhileConnecting revokes a token while a client connects with it, at each step of the connect. The socket
// must be closed, on the revoking instance and on one that has not received the signal.
func TestRevokedWhileConnecting(t *testing.T) {
	t.Parallel()
	t.Run("on another instance, the signal comes late", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			a, b, bus := twoInstancesLossyBus(t)
			addr, bob := b.listen(t), a.signIn(t, "bob", 0)
			room := a.room(t, bob, "hall").ID
			his, _ := connected(t, addr, wire.JSON, "bob")
			a.say(t, bob, room, "the bus works")
			his.push(isPub)
			b.signIn(t, "ann", 0) // b caches the user
			bus.loses.Store(true)
			token := goodToken(t, "ann") // a token of the next second would be newer than the revocation
			revoke(t, a, "ann")
			c := dial(t, addr, wire.JSON)
			c.connect(token, "{}") // b cannot know of the revocation yet
			bus.loses.Store(false)
			bus.suspect()
			c.mustClose(wire.CloseRevoked)
		})
	})
	t.Run("on the same, between the reading and the reply", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			s := newTestServer(t)
			addr := s.listen(t)
			s.signIn(t, "ann", 0)
			s.store.whenListed("ann", func() {
				if err := s.chat.Revoke(context.Background(), "ann"); err != nil {
					t.Error(err)
				}
				s.Disconnect("ann")
			})
			c := dial(t, addr, wire.JSON)
			c.send(`{"id":1,"connect":{"token":"` + goodToken(t, "ann") + `"}}`)
			c.mustClose(wire.CloseRevoked)
		})
	})
	t.Run("on the same, before it listens", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			engines := newTestEngines(t)
			notes := &notingStore{Store: engines.store.Store}
			engines.store.Store = notes
			s := engines.open(t, func(o *Options) { o.Alone = true })
			addr := s.listen(t)
			notes.noted = func() {
				notes.noted = nil
				if err := s.chat.Revoke(context.Background(), "ann"); err != nil {
					t.Error(err)
				}
				s.Disconnect("ann")
			}
			c := dial(t, addr, wire.JSON)
			c.send(`{"id":1,"connect":{"token":"` + goodToken(t, "ann") + `"}}`)
			c.mustClose(wire.CloseInvalidToken)
		})
	})
}

func TestStats(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, func(o *Options) { o.Version = "v1.2.3" })
	addr := s.listen(t)
	ann := s.signIn(t, "ann", 100)
	room := s.room(t, ann, "hall").ID
	c, _ := connected(t, addr, wire.JSON, "ann")
	connected(t, addr, wire.Protobuf, "ann")
	connected(t, addr, wire.JSON, "bob")
	sent := call[wire.SendPacketReply](t, s, ann, "send_packet", wire.SendPacketRequest{Room: room, Key: "k", Total: 10, Count: new(1)})
	call[wire.GrabReply](t, s, ann, "grab", wire.GrabRequest{Packet: sent.Packet.ID})
	call[wire.GrabReply](t, s, ann, "grab", wire.GrabRequest{Packet: sent.Packet.ID})
	c.send(`{"id":0,"rpc":{}}`)
	c.mustClose(wire.CloseProtocolError)
	_ = c.ws.Close()
	s.eventually(t, "the end of the socket", func() bool { return s.hub.Connections() == 2 })

	admin := mint(t, auth.Claims{User: "root", Scope: auth.DefaultAdminScope}, time.Hour)
	got := mustAnswer[wire.StatsReply](t, ask(t, s.Handler(), "GET", "/v1/admin/stats", admin, ""), 200)
	if got.Instance == "" || got.Version != "v1.2.3" || got.Draining || got.BusDown || time.Since(time.UnixMilli(got.StartedAt)) > time.Minute {
		t.Errorf("of the instance: %+v", got)
	}
	if got.Connections != 2 || got.Users != 2 || got.Topics != 3 || got.Delivered == 0 || got.Closes[wire.CloseProtocolError] != 1 {
		t.Errorf("of the sockets: %+v", got)
	}
	if got.Grabs.Won != 1 || got.Grabs.Already != 1 || got.Grabs.Empty != 0 {
		t.Errorf("of grabs: %+v", got.Grabs)
	}
	s.draining.Store(true)
	if !mustAnswer[wire.StatsReply](t, ask(t, s.Handler(), "GET", "/v1/admin/stats", admin, ""), 200).Draining {
		t.Error("a draining instance does not say so")
	}
}

// TestRevokedWhileTheBusLosesSignals disconnects a user while another instance, which has the user's sockets, hears nothing of it.
// The sockets must be closed, whether that instance knows that its bus is lost or not. A socket of a newer token must stay.
func TestRevokedWhileTheBusLosesSignals(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]time.Duration{"known": 7 * time.Second, "unknown": 15 * time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T) {
				a, b, bus := twoInstancesLossyBus(t)
				addr := b.listen(t)
				old := goodToken(t, "ann")
				revoked, _ := connected(t, addr, wire.JSON, "ann")
				newer := dial(t, addr, wire.JSON)
				newer.connect(later(t, "ann"), "{}")
				other, _ := connected(t, addr, wire.JSON, "bob")
				rechecked := make(chan struct{})
				b.store.whenListed("ann", func() { close(rechecked) })
				b.sessions.BusLost(false) // rechecks once more, if the recheck after the connect has been
				await(t, rechecked)       // it finds revocations, too
				bus.loses.Store(true)
				if name == "known" {
					b.sessions.BusLost(true)
				}
				revoke(t, a, "ann")
				began := time.Now()
				revoked.mustClose(wire.CloseRevoked)
				if took := time.Since(began); took > limit {
					t.Errorf("the socket was closed after %v, want at most %v", took, limit)
				}
				mustAnswer[wire.ErrorBody](t, ask(t, b.Handler(), "POST", "/v1/commands/wallet", old, ""), 401)
				if name == "known" { // else the others are closed, too: they have answered no ping for so long
					rpc[wire.WalletReply](newer, 2, "wallet", wire.WalletRequest{})
					rpc[wire.WalletReply](other, 2, "wallet", wire.WalletRequest{})
				}
			})
		})
	}
}

// TestNameThatTheHostHasPut: a host changes the name of a user. The user's token says another name, and there are sockets of the user on
// two instances. The new name must stay when the sockets are compared with the store, and the sockets must use it.
func TestNameThatTheHostHasPut(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		a, b, _ := twoInstancesLossyBus(t)
		room := a.room(t, a.signIn(t, "bob", 0), "hall").ID
		for n, s := range []*testServer{b, a} { // b first: the store tells of the comparisons of both
			c, _ := connected(t, s.listen(t), wire.JSON, "ann")
			rpc[wire.JoinReply](c, 2, "join", wire.JoinRequest{Room: room})
			if _, err := a.chat.PutUser(t.Context(), chat.UserChange{User: "ann", Name: new("Ann of the host")}); err != nil {
				t.Fatal(err)
			}
			if s == a {
				a.Renamed(t.Context(), "ann")
			} else {
				id := uint32(10)
				s.eventually(t, "the host's name after the notice", func() bool {
					id++
					rpc[wire.SendReply](c, id, "send", wire.SendRequest{Room: room, Key: fmt.Sprint("try", id), Text: "hello"})
					entries, _, err := a.chat.History(t.Context(), "bob", room, chat.Page{Limit: 1})
					return err == nil && len(entries) == 1 && entries[0].From.Name == "Ann of the host"
				})
			}
			sent := rpc[wire.SendReply](c, 3, "send", wire.SendRequest{Room: room, Key: fmt.Sprint("k", n), Text: "hello"})
			entries, _, err := a.chat.History(t.Context(), "bob", room, chat.Page{Limit: 1})
			if err != nil || len(entries) != 1 || entries[0].Seq != sent.Seq || entries[0].From.Name != "Ann of the host" {
				t.Errorf("the last entry is %+v, %v; want one from Ann of the host", entries, err)
			}
			if records, err := a.chat.UserRecordsOf(t.Context(), []string{"ann"}, nil); err != nil || len(records) != 1 || records[0].Name != "Ann of the host" {
				t.Errorf("stored are %+v, %v; want the name that the host has put", records, err)
			}
		}
	})
}
