package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hongbao/web/wire"
)

// times is how often a word was heard.
func (d *diary) times(word string) (n int) {
	for _, w := range d.all() {
		if w == word {
			n++
		}
	}
	return n
}

func (d *diary) all() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.words)
}

// awaits waits until a word was heard so many times.
func (d *diary) awaits(times int, words ...any) {
	d.t.Helper()
	d.awaitsWithin(40*time.Second, times, words...)
}

func (d *diary) awaitsWithin(within time.Duration, times int, words ...any) {
	d.t.Helper()
	word := strings.TrimSuffix(fmt.Sprintln(words...), "\n")
	for deadline := time.Now().Add(within); d.times(word) < times; <-time.After(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			d.t.Fatalf("%s did not hear %q %d times within %v, but %s", d.name, word, times, within, d.tail())
		}
	}
}

// mustNot fails the test if a word was heard.
func (d *diary) mustNot(words ...any) {
	d.t.Helper()
	if word := strings.TrimSuffix(fmt.Sprintln(words...), "\n"); d.times(word) > 0 {
		d.t.Errorf("%s heard %q: %s", d.name, word, d.tail())
	}
}

// mustEnd fails the test unless these are the last words about a room.
func (d *diary) mustEnd(room string, want ...string) {
	d.t.Helper()
	got := slices.DeleteFunc(d.all(), func(w string) bool { return !strings.Contains(w, room) })
	if got = got[max(0, len(got)-len(want)):]; !slices.Equal(got, want) {
		d.t.Errorf("%s heard at last %q, want %q", d.name, got, want)
	}
}

// newest is the entry of a room that was heard last.
func (d *diary) newest(room string) wire.Entry {
	d.mu.Lock()
	defer d.mu.Unlock()
	entries := d.entries[room]
	return entries[len(entries)-1]
}

// tail is the end of the diary, to be shown.
func (d *diary) tail() string {
	all := d.all()
	return fmt.Sprintf("%q", all[max(0, len(all)-12):])
}
