package web

import (
	"net/http"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"hongbao/chat"
	"hongbao/web/user/auth/authtest"
	"hongbao/web/wire"
)

// suspend suspends the user and closes the user's sockets, as the server API does.
func suspend(t *testing.T, s *testServer, user string) {
	t.Helper()
	if _, err := s.chat.Suspend(t.Context(), user); err != nil {
		t.Fatal(err)
	}
	s.DisconnectSuspended(user)
}

func reinstate(t *testing.T, s *testServer, user string) {
	t.Helper()
	if _, err := s.chat.Reinstate(t.Context(), user); err != nil {
		t.Fatal(err)
	}
}

// refusedAsSuspended fails the test unless the instance refuses the token over HTTP and over sockets.
func refusedAsSuspended(t *testing.T, s *testServer, addr, token string) {
	t.Helper()
	if answer := mustAnswer[wire.ErrorBody](t, ask(t, s.Handler(), "POST", "/v1/commands/wallet", token, ""), 403); answer.Error.Code != wire.CodeSuspended {
		t.Errorf("over HTTP: %+v", answer)
	}
	c := dial(t, addr, wire.JSON)
	c.send(`{"id":1,"connect":{"token":"` + token + `"}}`)
	c.mustClose(wire.CloseSuspended)
	ws, _, err := tryDial(addr, wire.JSON, http.Header{"Authorization": {"Bearer " + token}})
	noError(t, err)
	c = &rawClient{t: t, ws: ws}
	c.send(`{"id":1,"connect":{}}`)
	c.mustClose(wire.CloseSuspended)
}

// TestSuspendedEverywhere suspends a user. All sockets must be closed on every instance, and all tokens refused, also those that are issued
// later. After the reinstatement the same tokens must be accepted.
func TestSuspendedEverywhere(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		a, b := twoInstances(t)
		addrs := map[*testServer]string{a: a.listen(t), b: b.listen(t)}
		here, _ := connected(t, addrs[a], wire.JSON, "ann")
		there, _ := connected(t, addrs[b], wire.Protobuf, "ann")
		other, _ := connected(t, addrs[b], wire.JSON, "bob")
		old, silent := goodToken(t, "ann"), authtest.Sign(t, jwt.SigningMethodHS256, testSecret, jwt.MapClaims{"sub": "ann", "exp": time.Now().Unix() + 600})
		mustAnswer[wire.WalletReply](t, ask(t, b.Handler(), "POST", "/v1/commands/wallet", silent, ""), 200) // b caches the user

		suspend(t, a, "ann")
		here.mustClose(wire.CloseSuspended)
		there.mustClose(wire.CloseSuspended)
		rpc[wire.WalletReply](other, 2, "wallet", wire.WalletRequest{})
		tokens := []string{old, silent, later(t, "ann")}
		for _, s := range []*testServer{a, b} {
			s.eventually(t, "the word of it", func() bool {
				_, err := s.chat.Admit(t.Context(), chat.Profile{User: chat.User{ID: "ann", Name: "Name of ann"}}, time.Now().Add(time.Hour))
				return err != nil
			})
			for _, token := range tokens {
				refusedAsSuspended(t, s, addrs[s], token)
			}
		}
		reinstate(t, a, "ann")
		for _, s := range []*testServer{a, b} {
			for _, token := range tokens {
				s.eventually(t, "the word of the end", func() bool {
					return ask(t, s.Handler(), "POST", "/v1/commands/wallet", token, "").StatusCode == 200
				})
				dial(t, addrs[s], wire.JSON).connect(token, "{}")
			}
		}
	})
}

// TestSuspendedWhileTheBusLosesSignals suspends a user while another instance, which has the user's sockets, hears nothing of it. The
// sockets must be closed as soon as after a revocation. A reinstatement that the instance does not hear of must count after a few seconds.
func TestSuspendedWhileTheBusLosesSignals(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]time.Duration{"known": 7 * time.Second, "unknown": 15 * time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T) {
				a, b, bus := twoInstancesLossyBus(t)
				addr, token := b.listen(t), later(t, "ann")
				c := dial(t, addr, wire.JSON)
				c.connect(token, "{}")
				rechecked := make(chan struct{})
				b.store.whenListed("ann", func() { close(rechecked) })
				b.sessions.BusLost(false) // rechecks once more, if the recheck after the connect has been
				await(t, rechecked)       // it finds suspensions, too
				bus.loses.Store(true)
				if name == "known" {
					b.sessions.BusLost(true)
				}
				suspend(t, a, "ann")
				began := time.Now()
				c.mustClose(wire.CloseSuspended)
				if took := time.Since(began); took > limit {
					t.Errorf("the socket was closed after %v, want at most %v", took, limit)
				}
				mustAnswer[wire.ErrorBody](t, ask(t, b.Handler(), "POST", "/v1/commands/wallet", token, ""), 403)
				reinstate(t, a, "ann")
				b.eventually(t, "the end of the suspension", func() bool {
					return ask(t, b.Handler(), "POST", "/v1/commands/wallet", token, "").StatusCode == 200
				})
			})
		})
	}
}

// TestSuspendedRefresh refreshes a token while the user is suspended and the instance has not closed the socket yet.
func TestSuspendedRefresh(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	c, _ := connected(t, s.listen(t), wire.JSON, "ann")
	if _, err := s.chat.Suspend(t.Context(), "ann"); err != nil {
		t.Fatal(err)
	}
	c.send(`{"id":2,"refresh":{"token":"` + later(t, "ann") + `"}}`)
	c.mustClose(wire.CloseSuspended)
}

// TestSuspendedGuest suspends a guest. The guest's token must make no newer one and no device code, a device code must sign nobody in, and
// after the reinstatement the guest must have the token and the money again.
func TestSuspendedGuest(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, func(o *Options) { o.Guests = Guests{Key: testGuestKey, Credit: 500} })
	h := s.Handler()
	guest := mustAnswer[wire.GuestReply](t, ask(t, h, "POST", "/v1/guests", "", `{"name":"Mei"}`), 200)
	code := mustAnswer[wire.DeviceCodeReply](t, ask(t, h, "POST", "/v1/guests/device_code", guest.Token, ""), 200).Code
	suspend(t, s, guest.User.ID)
	for _, path := range []string{"/v1/guests/renew", "/v1/guests/device_code", "/v1/guests/profile", "/v1/guests/sign_out", "/v1/commands/wallet"} {
		if got := mustAnswer[wire.ErrorBody](t, ask(t, h, "POST", path, guest.Token, "{}"), 403).Error.Code; got != wire.CodeSuspended {
			t.Errorf("%s: %d %s", path, got, got.Word())
		}
	}
	redeem := func(status int) {
		t.Helper()
		mustAnswer[wire.ErrorBody](t, ask(t, h, "POST", "/v1/guests/redeem", "", `{"code":"`+code+`"}`), status)
	}
	redeem(404)
	reinstate(t, s, guest.User.ID)
	redeem(404)
	if w := mustAnswer[wire.WalletReply](t, ask(t, h, "POST", "/v1/commands/wallet", guest.Token, ""), 200); w.Balance != 500 {
		t.Errorf("the guest has %d, want 500", w.Balance)
	}
	mustAnswer[wire.GuestReply](t, ask(t, h, "POST", "/v1/guests/renew", guest.Token, ""), 200)
}

// TestPacketsOfASuspendedUserGoOn suspends the sender of an open packet. Members must still read the user's text and grab, and the refund
// must arrive.
func TestPacketsOfASuspendedUserGoOn(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		s := newTestServer(t)
		ann, bob := s.signIn(t, "ann", 100), s.signIn(t, "bob", 0)
		room := s.room(t, ann, "hall").ID
		call[wire.JoinReply](t, s, bob, "join", wire.JoinRequest{Room: room})
		said := s.say(t, ann, room, "hello")
		sent := call[wire.SendPacketReply](t, s, ann, "send_packet", wire.SendPacketRequest{Room: room, Key: "k", Total: 100, Count: new(2), Mode: "equal", TTLS: new(int64(10))})
		suspend(t, s, "ann")
		if g := call[wire.GrabReply](t, s, bob, "grab", wire.GrabRequest{Packet: sent.Packet.ID}); g.Amount != 50 {
			t.Errorf("bob's grab: %+v", g)
		}
		history := call[wire.HistoryReply](t, s, bob, "history", wire.HistoryRequest{Room: room, After: new(said.Seq - 1)})
		if len(history.Entries) < 2 || history.Entries[0].Seq != said.Seq {
			t.Errorf("bob sees %+v, want the text and the packet", history.Entries)
		}
		s.eventually(t, "the refund", func() bool {
			account, err := s.packets.Account(t.Context(), "ann")
			return err == nil && account.Balance == 50
		})
	})
}
