package main

import (
	"encoding/json"
	"io"
	"slices"
	"sync"
	"time"
)

// maxInFlight bounds how far the first client may be ahead of the last.
const maxInFlight = 1024

// ears count what clients hear.
type ears struct {
	mu      sync.Mutex // guards the following
	out     *json.Encoder
	order   order
	all     []ear
	reached [maxInFlight]int // how many clients have heard message n, at n modulo its length
	heard   int              // messages that all have heard
	took    []time.Duration  // from when each was due
}

func newEars(clients int, out io.Writer) *ears {
	return &ears{out: json.NewEncoder(out), all: make([]ear, clients)}
}

// begin counts anew. Nothing may be on its way.
func (e *ears) begin(o order) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.order, e.heard, e.took = o, 0, nil
	clear(e.reached[:])
	for i := range e.all {
		e.all[i].heard = 0
	}
}

// take notes what has come to a client, and reports when everybody has heard more.
func (e *ears) take(client int, b []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	one := &e.all[client]
	before, all := one.heard, e.heard
	if e.order.Timed {
		now := time.Now()
		one.take(b, e.order.Size, func(stamp []byte) {
			if due, err := parseStamp(stamp); err == nil {
				e.took = append(e.took, now.Sub(due))
			}
		})
	} else {
		one.take(b, e.order.Size, nil)
	}
	for n := before; n < one.heard; n++ {
		at := &e.reached[n%maxInFlight]
		if *at++; *at == len(e.all) {
			*at = 0
			e.heard++
		}
	}
	if e.heard > all {
		e.tellLocked(account{})
	}
}

// answer tells everything.
func (e *ears) answer() {
	e.mu.Lock()
	defer e.mu.Unlock()
	a := account{Answer: true, Times: len(e.took)}
	for i := range e.all {
		a.Most = max(a.Most, e.all[i].heard)
	}
	if len(e.took) > 0 {
		slices.Sort(e.took)
		a.P99 = e.took[len(e.took)*99/100]
	}
	e.tellLocked(a)
}

func (e *ears) tellLocked(a account) {
	a.All = e.heard
	_ = e.out.Encode(a) //nolint:errchkjson // who does not listen any more has closed our input, too
}
