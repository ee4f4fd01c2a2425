package sdk

import (
	"errors"
	"sync/atomic"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/web/wire"
)

// connects: the connect reply names the user, the rooms and the limits. The client is subscribed to all its rooms and receives
// new entries and typing there.
func (f *fixture) connects() {
	room, other := f.room("ann", "public", "bob"), f.room("bob", "private")
	f.say("ann", room, "before")
	bob, ann := f.connect("bob"), f.connect("ann")
	bob.await(1, "subscribed", room)
	bob.await(1, "subscribed", other)
	bob.mu.Lock()
	if w := bob.welcome; w.User.ID != "bob" || len(w.Rooms) != 2 || w.Limits != wire.DefaultLimits() {
		f.t.Errorf("the connect reply of bob is %+v, want user bob, 2 rooms and the default limits", w)
	}
	bob.mu.Unlock()
	ann.must("send", wire.SendRequest{Room: room, Key: "live", Text: "live"})
	for _, u := range []*user{ann, bob} {
		u.await(1, "entry", room, 2)
		u.mustNotHave("entry", room, 1)
		u.mustHaveAll(room)
	}
	e2e.NoError(f.t, ann.send(e2e.JSON(map[string]any{"typing": wire.TypingRoom{Room: room}})))
	bob.await(1, "typing")
}

// tokenExpiredAtConnect: the SDK fetches a new token when the first one has expired.
func (f *fixture) tokenExpiredAtConnect() {
	ann := f.open("ann", options{token: f.token("ann", -time.Second), refresh: func() (string, error) {
		return f.token("ann", time.Hour), nil
	}})
	ann.await(1, "connected")
	ann.mustNotHave("disconnected", wire.CodeTokenExpired)
}

// connectBriefly connects ann with a token that expires soon. The application refreshes it until ann is connected, because the
// machine may be busy; later refreshes get what next returns.
func (f *fixture) connectBriefly(next func() (string, error)) *user {
	f.t.Helper()
	const ttl = 3 * time.Second
	var connected atomic.Bool
	ann := f.open("ann", options{token: f.token("ann", ttl), refresh: func() (string, error) {
		if !connected.Load() {
			return f.token("ann", ttl), nil
		}
		return next()
	}})
	ann.await(1, "connected")
	connected.Store(true)
	return ann
}

// tokenRefreshed: an expiring token is replaced on the socket, without a reconnect.
func (f *fixture) tokenRefreshed() {
	ann := f.connectBriefly(func() (string, error) { return f.token("ann", time.Hour), nil })
	e2e.Eventually(f.t, 20*time.Second, "the server has handled a refresh", func() bool {
		return f.server.HasMetric(`hongbao_command_seconds_count{code="0",method="refresh"} 1`)
	})
	ann.must("wallet", wire.WalletRequest{})
	ann.mustBeConnectedOnce()
}

// mustBeConnectedOnce fails the test if the client has reconnected.
func (u *user) mustBeConnectedOnce() {
	u.t.Helper()
	if n := u.count("connected"); n != 1 {
		u.t.Errorf("%s was connected %d times, want once; the last events are %s", u.name, n, u.tail())
	}
}

// tokenRefused: the SDK disconnects for good when the application has no more tokens for the user.
func (f *fixture) tokenRefused() {
	f.connectBriefly(func() (string, error) { return "", errNoToken }).await(1, "disconnected", 1)
}

// tokenExpires: when a refresh fails, the server closes the socket 25 s after expiry. The SDK reconnects as soon as it gets a token.
func (f *fixture) tokenExpires() {
	const grace = 25 * time.Second
	var restored atomic.Bool
	began := time.Now() // the token has at least as long to live
	ann := f.connectBriefly(func() (string, error) {
		if !restored.Load() {
			return "", errors.New("the application is down")
		}
		return f.token("ann", time.Hour), nil
	})
	ann.awaitWithin(45*time.Second, 1, "reconnecting", wire.CloseTokenExpired)
	if lasted := time.Since(began); lasted < grace-time.Second {
		f.t.Errorf("the server closed the socket after %v, want at least %v", lasted, grace-time.Second)
	}
	restored.Store(true)
	ann.await(2, "connected")
}

// tokenInvalid: an invalid token disconnects the SDK for good.
func (f *fixture) tokenInvalid() {
	f.open("ann", options{token: "nonsense"}).await(1, "disconnected", wire.CloseInvalidToken)
}

// revoked: after an administrator disconnects a user, its client does not reconnect, and cannot connect with the same token.
func (f *fixture) revoked() {
	f.room("ann", "public")
	ann, token := f.connect("ann"), f.token("ann", time.Hour)
	f.post("root", "admin/disconnect", wire.DisconnectRequest{User: "ann"}, nil)
	ann.await(1, "disconnected", wire.CloseRevoked)
	f.open("ann", options{token: token}).await(1, "disconnected", wire.CloseInvalidToken)
}

// tooManySockets: a user opens one socket more than allowed. The server must close the oldest one.
func (f *fixture) tooManySockets() {
	first := f.connect("ann")
	for range wire.DefaultLimits().SocketsPerUser {
		first.mustNotHave("disconnected", wire.ClosePushedOut)
		f.connect("ann")
	}
	first.await(1, "disconnected", wire.ClosePushedOut)
}
