package session

import (
	"log/slog"
	"testing"

	"hongbao/chat"
	"hongbao/hub"
	"hongbao/web/push"
	"hongbao/web/wire"
)

// newBareManager returns a manager that can only receive signals and notices.
func newBareManager(f *testing.F) *Manager {
	f.Helper()
	log := slog.New(slog.DiscardHandler)
	pub := push.NewPublisher(hub.New(hub.Options{Encode: push.NewEncoder().Encode, Ping: push.Ping}), "node")
	return &Manager{c: Config{Chat: chat.New(nil, pub, chat.Options{Log: log}), Node: pub.Node(), Log: log}}
}

// FuzzSignal gives a session random bytes as a signal. They must be refused, or queued until the session is open.
func FuzzSignal(f *testing.F) {
	m := newBareManager(f)
	for _, sig := range []push.Signal{
		push.EnteredSignal(chat.Membership{Room: chat.Room{ID: "r", LastSeq: 7}}),
		{By: m.c.Node, Room: "r", Reason: push.ReasonKicked, Through: 9}, {Room: "r", Reason: push.ReasonDeleted},
		{Close: &push.Close{Code: wire.CloseRevoked, Socket: "c"}},
	} {
		f.Add(sig.Encode())
	}
	f.Add([]byte(`{"room":7}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := &Session{m: m, phase: opening}
		s.Signal("user:u", data)
		_, err := push.ParseSignal(data)
		if queued := len(s.signals.list) > 0; queued != (err == nil) {
			t.Fatalf("%d signals are queued, and parsing returned %v", len(s.signals.list), err)
		}
	})
}

// FuzzNotice gives a manager random bytes as a notice. They must be applied or ignored.
func FuzzNotice(f *testing.F) {
	m := newBareManager(f)
	f.Add([]byte(`{"moved":{"room":"r","user":"u"}}`))
	f.Add([]byte(`{"moved":{"room":"r"}}`))
	f.Add([]byte(`{"moved":{}}`))
	f.Add([]byte(`{"moved":[]}`))
	f.Fuzz(func(_ *testing.T, data []byte) { m.Notice(data) })
}
