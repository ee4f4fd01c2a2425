package main

import (
	"errors"
	"sync/atomic"
	"time"

	"hongbao/web/wire"
)

// connects: who connects is told who he is and what there is, is in all of his rooms, and hears what is said there.
func (s *stage) connects() {
	room, other := s.room("ann", "public", "bob"), s.room("bob", "private")
	s.say("ann", room, "before")
	bob, ann := s.connected("bob"), s.connected("ann")
	bob.awaits(1, "in", room)
	bob.awaits(1, "in", other)
	bob.mu.Lock()
	if w := bob.welcome; w.User.ID != "bob" || len(w.Rooms) != 2 || w.Limits != wire.DefaultLimits() {
		s.t.Errorf("bob is welcomed with %+v", w)
	}
	bob.mu.Unlock()
	ann.must("send", wire.SendRequest{Room: room, Key: "live", Text: "live"})
	for _, p := range []*person{ann, bob} {
		p.awaits(1, "entry", room, 2)
		p.mustNot("entry", room, 1)
		p.mustBeExact(room)
	}
	check(s.t, ann.send(jsonText(map[string]any{"typing": wire.TypingRoom{Room: room}})))
	bob.awaits(1, "typing")
}

// tokenOverAtConnect: an expired token is no more than a reason to get a new one.
func (s *stage) tokenOverAtConnect() {
	p := s.open("ann", opening{token: s.token("ann", -time.Second), refresh: func() (string, error) {
		return s.token("ann", time.Hour), nil
	}})
	p.awaits(1, "up")
	p.mustNot("over", wire.CodeTokenExpired)
}

// brief lets ann connect with a token that runs out soon. The host gives her more of them for as long as she is not connected,
// because a machine may be busy, and then answers as it is told to.
func (s *stage) brief(then func() (string, error)) *person {
	s.t.Helper()
	const ttl = 3 * time.Second
	var up atomic.Bool
	p := s.open("ann", opening{token: s.token("ann", ttl), refresh: func() (string, error) {
		if !up.Load() {
			return s.token("ann", ttl), nil
		}
		return then()
	}})
	p.awaits(1, "up")
	up.Store(true)
	return p
}

// tokenRefreshed: a token is replaced on the socket, without a reconnect.
func (s *stage) tokenRefreshed() {
	p := s.brief(func() (string, error) { return s.token("ann", time.Hour), nil })
	eventually(s.t, 20*time.Second, "the token is refreshed", func() bool {
		return s.node.shows(`hongbao_command_seconds_count{code="0",method="refresh"} 1`)
	})
	p.must("wallet", wire.WalletRequest{})
	if up := p.times("up"); up != 1 {
		s.t.Errorf("connected %d times: %s", up, p.tail())
	}
}

// tokenRefused: when the host has no more tokens for its user, the SDK ends.
func (s *stage) tokenRefused() {
	s.brief(func() (string, error) { return "", errNoToken }).awaits(1, "over", 1)
}

// tokenRunsOut: while the host cannot give tokens the server waits for 25 s, then hangs up; the SDK comes back with a new
// one as soon as it gets it.
func (s *stage) tokenRunsOut() {
	const grace = 25 * time.Second
	var back atomic.Bool
	p := s.brief(func() (string, error) {
		if !back.Load() {
			return "", errors.New("the host is away")
		}
		return s.token("ann", time.Hour), nil
	})
	began := time.Now()
	p.awaitsWithin(45*time.Second, 1, "again", wire.CloseTokenExpired)
	if lasted := time.Since(began); lasted < grace-time.Second {
		s.t.Errorf("hung up after %v", lasted)
	}
	back.Store(true)
	p.awaits(2, "up")
}

// tokenBad: a token that will never be good ends the SDK.
func (s *stage) tokenBad() {
	s.open("ann", opening{token: "nonsense"}).awaits(1, "over", wire.CloseInvalidToken)
}

// revoked: who is disconnected by the host does not come back, and cannot with the same token.
func (s *stage) revoked() {
	s.room("ann", "public")
	p, token := s.connected("ann"), s.token("ann", time.Hour)
	s.post("root", "admin/disconnect", wire.DisconnectRequest{User: "ann"}, nil)
	p.awaits(1, "over", wire.CloseRevoked)
	s.open("ann", opening{token: token}).awaits(1, "over", wire.CloseInvalidToken)
}

// pushedOut: the eleventh socket of a user takes the place of the first.
func (s *stage) pushedOut() {
	first := s.connected("ann")
	for range wire.DefaultLimits().SocketsPerUser {
		first.mustNot("over", wire.ClosePushedOut)
		s.connected("ann")
	}
	first.awaits(1, "over", wire.ClosePushedOut)
}
