package scaled

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/centrifugal/centrifuge-go"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/web/wire"
)

// listener is one socket of a user, with the unchanged SDK, that records when each event came. A user may have several. Events
// are short words:
//
//	<key>                  an entry
//	subscribed <room>
//	unsubscribed <room>
//	left <room> <reason>
//	wallet <kind> <change>
//	reconnecting <code>    the connection ended, and the SDK reconnects
//	disconnected <code>    the connection ended for good
type listener struct {
	*centrifuge.Client
	t    *testing.T
	name string

	mu     sync.Mutex
	events map[string][]time.Time // guarded by mu
}

// listen opens a socket for a guest and returns when it is connected.
func listen(t *testing.T, s *e2e.Server, guest wire.GuestReply) *listener {
	t.Helper()
	l := &listener{
		Client: centrifuge.NewJsonClient(s.SocketURL(false), centrifuge.Config{Token: guest.Token, HandshakeTimeout: 10 * time.Second}),
		t:      t, name: guest.User.Name + " at " + s.URL.Host, events: map[string][]time.Time{},
	}
	l.OnPublication(func(p centrifuge.ServerPublicationEvent) {
		var entry wire.Entry
		_ = json.Unmarshal(p.Data, &entry)
		l.record(entry.Key)
	})
	l.OnSubscribed(func(s centrifuge.ServerSubscribedEvent) {
		l.record("subscribed", strings.TrimPrefix(s.Channel, "room:"))
	})
	l.OnUnsubscribed(func(s centrifuge.ServerUnsubscribedEvent) {
		l.record("unsubscribed", strings.TrimPrefix(s.Channel, "room:"))
	})
	l.OnMessage(l.message)
	l.OnConnecting(func(c centrifuge.ConnectingEvent) { l.record("reconnecting", c.Code) })
	l.OnDisconnected(func(c centrifuge.DisconnectedEvent) { l.record("disconnected", c.Code) })
	t.Cleanup(l.Close)
	e2e.NoError(t, l.Connect())
	e2e.Eventually(t, 20*time.Second, l.name+" is connected", func() bool { return l.State() == centrifuge.StateConnected })
	return l
}

func (l *listener) message(message centrifuge.MessageEvent) {
	var m wire.Message
	_ = json.Unmarshal(message.Data, &m)
	switch {
	case m.Wallet != nil:
		l.record("wallet", m.Wallet.Kind, m.Wallet.Change)
	case m.Left != nil:
		l.record("left", m.Left.Room, m.Left.Reason)
	}
}

func (l *listener) record(words ...any) {
	now := time.Now()
	event := strings.TrimSuffix(fmt.Sprintln(words...), "\n")
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events[event] = append(l.events[event], now)
}

// times returns when an event came.
func (l *listener) times(event string) []time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.events[event])
}

// await waits for an event, and returns when it came first.
func (l *listener) await(event string) time.Time {
	l.t.Helper()
	e2e.Eventually(l.t, 30*time.Second, fmt.Sprintf("%s received %q", l.name, event), func() bool { return len(l.times(event)) > 0 })
	return l.times(event)[0]
}

// awaitWithinOneHop waits for an event that another server publishes on the bus. It fails the test if the event came
// more than oneHop after since.
func (l *listener) awaitWithinOneHop(event string, since time.Time) {
	l.t.Helper()
	took := l.await(event).Sub(since)
	l.t.Logf("%s: %q after %v", l.name, event, took.Round(time.Millisecond))
	e2e.MustTake(l.t, fmt.Sprintf("%s to receive %q", l.name, event), took, oneHop)
}

// oneHop limits the time from a message on the bus until another server has acted on it. That takes a few
// milliseconds, more on a busy machine. The periodic checks for lost messages would take longer than the limit.
const oneHop = 800 * time.Millisecond

// call sends a command that must succeed.
func (l *listener) call(method string, request any) {
	l.t.Helper()
	if _, err := l.RPC(l.t.Context(), method, []byte(e2e.JSON(request))); err != nil {
		l.t.Fatalf("%s: %s: got error %v, want success", l.name, method, err)
	}
}
