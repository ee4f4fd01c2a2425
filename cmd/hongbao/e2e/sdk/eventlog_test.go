package sdk

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"hongbao/web/wire"
)

// eventLog records what a client of an SDK reports, in order, in words that are the same for all SDKs:
//
//	connected
//	subscribed <room>                  new, or without recovery
//	subscribed <room> recovered|lost   again after a reconnect, with all that was missed or without
//	entry <room> <seq>
//	unsubscribed <room>
//	left <room> <reason>               and other messages by their name
//	reconnecting <code>                the connection ended, and the SDK reconnects
//	disconnected <code>                the connection ended for good
type eventLog struct {
	t    *testing.T
	name string // of the user

	mu       sync.Mutex // guards all below
	events   []string
	welcome  wire.ConnectData        // of the last connect
	joined   map[string]wire.Room    // that came with a subscription, by room
	entries  map[string][]wire.Entry // by room
	last     map[string]int64        // seq of the last entry, by room
	gaps     []gap                   // that were not recovered
	disorder []string                // violations of the order
}

// gap is the part of a room after one seq, up to and including another.
type gap struct {
	room           string
	after, through int64
}

func newEventLog(t *testing.T, name string) *eventLog {
	return &eventLog{t: t, name: name, joined: map[string]wire.Room{}, entries: map[string][]wire.Entry{}, last: map[string]int64{}}
}

// record appends an event and makes the change that belongs to it.
func (l *eventLog) record(change func(), words ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, eventText(words...))
	change()
}

func eventText(words ...any) string { return strings.TrimSuffix(fmt.Sprintln(words...), "\n") }

func noChange() {}

func (l *eventLog) reconnecting(code uint32) { l.record(noChange, "reconnecting", code) }
func (l *eventLog) disconnected(code uint32) { l.record(noChange, "disconnected", code) }
func (l *eventLog) unsubscribed(channel string) {
	room, _ := wire.ChannelRoom(channel)
	l.record(noChange, "unsubscribed", room)
}

func (l *eventLog) connected(data []byte) {
	l.record(func() { l.mustDecode(data, &l.welcome) }, "connected")
}

// subscribed records a subscription and its position.
func (l *eventLog) subscribed(channel string, offset uint64, data []byte, wasRecovering, recovered bool) {
	room, _ := wire.ChannelRoom(channel)
	switch {
	case !wasRecovering:
		l.record(func() {
			if l.last[room] = int64(offset); len(data) > 0 {
				var joined wire.Joined
				l.mustDecode(data, &joined)
				l.joined[room] = joined.Room
			}
		}, "subscribed", room)
	case recovered:
		l.record(noChange, "subscribed", room, "recovered")
	default:
		l.record(func() {
			l.gaps = append(l.gaps, gap{room, l.last[room], int64(offset)})
			l.last[room] = int64(offset)
		}, "subscribed", room, "lost")
	}
}

// entry records a publication, and whether it is the next one of its room.
func (l *eventLog) entry(channel string, offset uint64, data []byte) {
	room, _ := wire.ChannelRoom(channel)
	l.record(func() {
		var e wire.Entry
		l.mustDecode(data, &e)
		if e.Seq != int64(offset) || e.Seq != l.last[room]+1 {
			l.disorder = append(l.disorder, fmt.Sprintf("after entry %d of %s came offset %d: %.200s", l.last[room], room, offset, data))
		}
		l.last[room] = e.Seq
		l.entries[room] = append(l.entries[room], e)
	}, "entry", room, offset)
}

func (l *eventLog) message(data []byte) {
	var m wire.Message
	var names map[string]json.RawMessage
	l.mu.Lock()
	l.mustDecode(data, &m)
	l.mustDecode(data, &names)
	l.mu.Unlock()
	if m.Left != nil {
		l.record(noChange, "left", m.Left.Room, m.Left.Reason)
		return
	}
	for name := range names {
		l.record(noChange, name)
	}
}

func (l *eventLog) mustDecode(data []byte, into any) {
	if err := json.Unmarshal(data, into); err != nil {
		l.disorder = append(l.disorder, fmt.Sprintf("%s: %v", data, err))
	}
}
