package web

import (
	"context"
	"encoding/json"
	"sync"

	"hongbao/web/wire"
)

// notice is what one instance tells all others.
type notice struct {
	Moved *place `json:"moved,omitempty"` // something is otherwise than it may be remembered
}

// place is a user's in a room. Without a user it is everybody's; without a room it is the user himself.
type place struct {
	Room string `json:"room,omitempty"`
	User string `json:"user,omitempty"`
}

// Notice implements hub.Peers.
func (s *Server) Notice(data []byte) {
	var n notice
	if err := json.Unmarshal(data, &n); err != nil {
		s.o.Log.Error("notice of an unknown form", "err", err)
		return
	}
	if n.Moved == nil {
		return
	}
	s.chat.Forget(n.Moved.Room, n.Moved.User)
	if user := n.Moved.User; user != "" && len(s.sockets.of(user)) > 0 { // what has moved may have been told to nobody else
		s.rechecks.add(user)
	}
}

// Deaf implements hub.Peers. When the others are heard again the sessions are compared with the store: a word that
// nobody repeats may have been for them.
func (s *Server) Deaf(deaf bool) {
	s.chat.Deaf(deaf)
	if !deaf {
		s.rechecks.add(s.sockets.users()...)
	}
}

// Disconnect closes all sockets of the user, on every instance, for good: he is revoked.
func (s *Server) Disconnect(user string) {
	s.pub.signal(userTopic(user), signal{Close: &closing{Code: wire.CloseRevoked}})
}

// pushOut closes one socket of the user, on whatever instance it is.
func (s *Server) pushOut(user, socket string) {
	s.pub.signal(userTopic(user), signal{Close: &closing{Code: wire.ClosePushedOut, Socket: socket}})
}

// Run tells the others who is here, and looks after the sessions, until ctx is done.
func (s *Server) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { s.attendance.run(ctx) })
	running.Go(func() { s.attendance.comings.run(ctx) })
	running.Go(func() { s.rechecks.run(ctx) })
	running.Go(func() { s.tokens.run(ctx) })
	err := s.o.Presence.Run(ctx)
	cancel()
	running.Wait()
	return err
}
