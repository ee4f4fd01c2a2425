package main

import (
	"encoding/json"
	"io"
	"slices"
	"sync"
	"time"
)

// maxInFlight bounds how many messages the fastest client may be ahead of the slowest.
const maxInFlight = 1024

// messageCounter counts the messages of all clients.
type messageCounter struct {
	mu           sync.Mutex // guards the fields below
	out          *json.Encoder
	countRequest countRequest
	all          []frameCounter
	reached      [maxInFlight]int // at index n modulo the length: number of clients that have received message n
	received     int              // messages that every client has received
	took         []time.Duration  // for each message and client: the time from due to received
}

func newMessageCounter(clients int, out io.Writer) *messageCounter {
	return &messageCounter{out: json.NewEncoder(out), all: make([]frameCounter, clients)}
}

// begin starts a new count. No message may be in flight.
func (e *messageCounter) begin(o countRequest) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.countRequest, e.received, e.took = o, 0, nil
	clear(e.reached[:])
	for i := range e.all {
		e.all[i].received = 0
	}
}

// take counts the messages in bytes that arrived at a client. It sends a report when the slowest client has advanced.
func (e *messageCounter) take(client int, b []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	one := &e.all[client]
	before, all := one.received, e.received
	if e.countRequest.Timed {
		now := time.Now()
		one.take(b, e.countRequest.Size, func(stamp []byte) {
			if due, err := parseStamp(stamp); err == nil {
				e.took = append(e.took, now.Sub(due))
			}
		})
	} else {
		one.take(b, e.countRequest.Size, nil)
	}
	for n := before; n < one.received; n++ {
		at := &e.reached[n%maxInFlight]
		if *at++; *at == len(e.all) {
			*at = 0
			e.received++
		}
	}
	if e.received > all {
		e.reportLocked(countReport{})
	}
}

// answer sends a report with all fields.
func (e *messageCounter) answer() {
	e.mu.Lock()
	defer e.mu.Unlock()
	a := countReport{Answer: true, Times: len(e.took)}
	for i := range e.all {
		a.Most = max(a.Most, e.all[i].received)
	}
	if len(e.took) > 0 {
		slices.Sort(e.took)
		a.P99 = e.took[len(e.took)*99/100]
	}
	e.reportLocked(a)
}

func (e *messageCounter) reportLocked(a countReport) {
	a.All = e.received
	_ = e.out.Encode(a) //nolint:errchkjson // if nobody reads the report, our input is closed too
}
