package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"hongbao/web/wire"
)

// diary is what a client has told its user, in order, in words that are the same for all SDKs:
//
//	up                          connected
//	in <room>                   in a room: new, or without asking for what was missed
//	in <room> recovered, lost   back in it, with all that was missed or without
//	entry <room> <seq>
//	out <room>
//	left <room> <reason>, and other messages by their name
//	again <code>, over <code>   why a connection ended, and whether the SDK comes back
type diary struct {
	t    *testing.T
	name string

	mu      sync.Mutex
	words   []string
	welcome wire.ConnectData        // of the last connect
	joined  map[string]wire.Room    // what came with the push, by room
	entries map[string][]wire.Entry // by room
	last    map[string]int64        // seq that was heard last, by room
	missed  []missed                // what did not come back
	wrong   []string                // what must not have happened
}

func newDiary(t *testing.T, name string) *diary {
	return &diary{t: t, name: name, joined: map[string]wire.Room{}, entries: map[string][]wire.Entry{}, last: map[string]int64{}}
}

// writes notes words; what else it changes is changed with them.
func (d *diary) writes(change func(), words ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.words = append(d.words, strings.TrimSuffix(fmt.Sprintln(words...), "\n"))
	change()
}

func nothing() {}

func (d *diary) again(code uint32) { d.writes(nothing, "again", code) }
func (d *diary) over(code uint32)  { d.writes(nothing, "over", code) }
func (d *diary) out(channel string) {
	room, _ := wire.ChannelRoom(channel)
	d.writes(nothing, "out", room)
}

func (d *diary) up(data []byte) {
	d.writes(func() { d.mustRead(data, &d.welcome) }, "up")
}

// in notes a subscription, with the position where it goes on.
func (d *diary) in(channel string, offset uint64, data []byte, wasRecovering, recovered bool) {
	room, _ := wire.ChannelRoom(channel)
	switch {
	case !wasRecovering:
		d.writes(func() {
			if d.last[room] = int64(offset); len(data) > 0 {
				var joined wire.Joined
				d.mustRead(data, &joined)
				d.joined[room] = joined.Room
			}
		}, "in", room)
	case recovered:
		d.writes(nothing, "in", room, "recovered")
	default:
		d.writes(func() {
			d.missed = append(d.missed, missed{room, uint64(d.last[room]), offset})
			d.last[room] = int64(offset)
		}, "in", room, "lost")
	}
}

// entry notes a publication, and that it is the next one.
func (d *diary) entry(channel string, offset uint64, data []byte) {
	room, _ := wire.ChannelRoom(channel)
	d.writes(func() {
		var e wire.Entry
		d.mustRead(data, &e)
		if e.Seq != int64(offset) || e.Seq != d.last[room]+1 {
			d.wrong = append(d.wrong, fmt.Sprintf("after %d of %s came %d: %.200s", d.last[room], room, offset, data))
		}
		d.last[room] = e.Seq
		d.entries[room] = append(d.entries[room], e)
	}, "entry", room, offset)
}

func (d *diary) message(data []byte) {
	var m wire.Message
	var names map[string]json.RawMessage
	d.mu.Lock()
	d.mustRead(data, &m)
	d.mustRead(data, &names)
	d.mu.Unlock()
	if m.Left != nil {
		d.writes(nothing, "left", m.Left.Room, m.Left.Reason)
		return
	}
	for name := range names {
		d.writes(nothing, name)
	}
}

func (d *diary) mustRead(data []byte, into any) {
	if err := json.Unmarshal(data, into); err != nil {
		d.wrong = append(d.wrong, fmt.Sprintf("%s: %v", data, err))
	}
}
