package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/centrifugal/centrifuge-go"

	"hongbao/web/wire"
)

// ear is one socket of a person, with the unchanged SDK, that notes when it heard what. One who has several sockets
// has several ears. What it hears is put in short words:
//
//	<key>                     an entry
//	in <room>, out <room>     its subscriptions
//	left <room> <reason>
//	wallet <kind> <change>
//	again <code>, over <code> why a connection ended
type ear struct {
	*centrifuge.Client
	t    *testing.T
	name string

	mu    sync.Mutex
	heard map[string][]time.Time // guarded by mu
}

// hear opens one more socket for a person and returns when it is connected.
func hear(t *testing.T, n *node, who wire.GuestReply) *ear {
	t.Helper()
	e := &ear{
		Client: centrifuge.NewJsonClient(n.socket(false), centrifuge.Config{Token: who.Token, HandshakeTimeout: 10 * time.Second}),
		t:      t, name: who.User.Name + " at " + n.url.Host, heard: map[string][]time.Time{},
	}
	e.OnPublication(func(p centrifuge.ServerPublicationEvent) {
		var entry wire.Entry
		_ = json.Unmarshal(p.Data, &entry)
		e.note(entry.Key)
	})
	e.OnSubscribed(func(s centrifuge.ServerSubscribedEvent) { e.note("in", strings.TrimPrefix(s.Channel, "room:")) })
	e.OnUnsubscribed(func(s centrifuge.ServerUnsubscribedEvent) { e.note("out", strings.TrimPrefix(s.Channel, "room:")) })
	e.OnMessage(e.told)
	e.OnConnecting(func(c centrifuge.ConnectingEvent) { e.note("again", c.Code) })
	e.OnDisconnected(func(c centrifuge.DisconnectedEvent) { e.note("over", c.Code) })
	t.Cleanup(e.Close)
	if err := e.Connect(); err != nil {
		t.Fatal(err)
	}
	eventually(t, 20*time.Second, e.name+" is connected", func() bool { return e.State() == centrifuge.StateConnected })
	return e
}

func (e *ear) told(message centrifuge.MessageEvent) {
	var m wire.Message
	_ = json.Unmarshal(message.Data, &m)
	switch {
	case m.Wallet != nil:
		e.note("wallet", m.Wallet.Kind, m.Wallet.Change)
	case m.Left != nil:
		e.note("left", m.Left.Room, m.Left.Reason)
	}
}

func (e *ear) note(words ...any) {
	now := time.Now()
	what := strings.TrimSuffix(fmt.Sprintln(words...), "\n")
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heard[what] = append(e.heard[what], now)
}

// times tells when something was heard.
func (e *ear) times(what string) []time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.heard[what])
}

// awaits waits until the ear has heard something, and tells when it was for the first time.
func (e *ear) awaits(what string) time.Time {
	e.t.Helper()
	eventually(e.t, 30*time.Second, e.name+" hears "+what, func() bool { return len(e.times(what)) > 0 })
	return e.times(what)[0]
}

// awaitsSoon waits for what must take no longer than one hop over the bus. It logs how long that was.
func (e *ear) awaitsSoon(what string, since time.Time) {
	e.t.Helper()
	took := e.awaits(what).Sub(since)
	e.t.Logf("%s: %q after %v", e.name, what, took.Round(time.Millisecond))
	if took > oneHop {
		e.t.Errorf("%s heard %q after %v, want at most %v", e.name, what, took, oneHop)
	}
}

// oneHop is how long it may take at most until another instance does what it has heard: a few milliseconds, on a busy
// machine more, yet sooner than anything that looks for lost words would.
const oneHop = 800 * time.Millisecond
