package sdk

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/web/wire"
)

// count returns how often an event was recorded.
func (l *eventLog) count(event string) (n int) {
	for _, e := range l.all() {
		if e == event {
			n++
		}
	}
	return n
}

func (l *eventLog) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.events)
}

// await waits until an event was recorded so many times.
func (l *eventLog) await(times int, words ...any) {
	l.t.Helper()
	l.awaitWithin(40*time.Second, times, words...)
}

func (l *eventLog) awaitWithin(limit time.Duration, times int, words ...any) {
	l.t.Helper()
	event := eventText(words...)
	limit = e2e.Limit(limit)
	for deadline := time.Now().Add(limit); l.count(event) < times; l.pause() {
		if time.Now().After(deadline) {
			e2e.TooSlow(l.t, "%s: want event %q %d times within %v; the last events are %s", l.name, event, times, limit, l.tail())
		}
	}
}

// awaitOneOf waits until one of these events has come.
func (l *eventLog) awaitOneOf(events ...string) {
	l.t.Helper()
	came := func(event string) bool { return l.count(event) > 0 }
	for deadline := time.Now().Add(e2e.Limit(40 * time.Second)); !slices.ContainsFunc(events, came); l.pause() {
		if time.Now().After(deadline) {
			e2e.TooSlow(l.t, "%s: want one of the events %q in time; the last events are %s", l.name, events, l.tail())
		}
	}
}

// pause lets a moment pass between two looks at the log.
func (l *eventLog) pause() {
	time.Sleep(10 * time.Millisecond) // sleeps: events come from a process of the SDK
}

// mustNotHave fails the test if an event was recorded.
func (l *eventLog) mustNotHave(words ...any) {
	l.t.Helper()
	if event := eventText(words...); l.count(event) > 0 {
		l.t.Errorf("%s: event %q should not have come; the last events are %s", l.name, event, l.tail())
	}
}

// mustEndWith fails the test unless these are the last events of a room.
func (l *eventLog) mustEndWith(room string, want ...string) {
	l.t.Helper()
	got := slices.DeleteFunc(l.all(), func(e string) bool { return !strings.Contains(e, room) })
	if got = got[max(0, len(got)-len(want)):]; !slices.Equal(got, want) {
		l.t.Errorf("%s: the last events of the room are %q, want %q", l.name, got, want)
	}
}

// newest returns the room's last entry.
func (l *eventLog) newest(room string) wire.Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	entries := l.entries[room]
	return entries[len(entries)-1]
}

// tail returns the last events for a message.
func (l *eventLog) tail() string {
	all := l.all()
	return fmt.Sprintf("%q", all[max(0, len(all)-12):])
}
