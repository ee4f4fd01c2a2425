package redisstore

import (
	"encoding/binary"
	"slices"
	"sync"

	"hongbao/hub"
)

// queueLen and queueBytes limit all send queues of this instance together. pipelineLen and pipelineBytes limit the
// messages of one round trip.
const (
	queueLen      = 128 << 10
	queueBytes    = 64 << 20
	pipelineLen   = 512
	pipelineBytes = 1 << 20
)

// queueSize counts messages and their bytes.
type queueSize struct{ count, bytes int }

func (s queueSize) exceeds(limit queueSize) bool {
	return s.count > limit.count || s.bytes > limit.bytes
}

func (s queueSize) fraction(n int) queueSize { return queueSize{s.count / n, s.bytes / n} }

func sizeOf(messages []busMessage) queueSize {
	s := queueSize{count: len(messages)}
	for _, m := range messages {
		s.bytes += len(m.bytes)
	}
	return s
}

// sendQueue holds the messages of a shard in order until they are sent. When it grows long, messages that may be lost
// are dropped first.
type sendQueue struct {
	// immutable
	wake  chan struct{} // one slot, never closed
	limit queueSize

	mu        sync.Mutex // guards the fields below
	messages  []busMessage
	size      queueSize
	compactAt queueSize
	lost      bool // messages of rank hub.Kept may have been dropped; the peers must be told
}

func newSendQueue(shards int) *sendQueue {
	limit := queueSize{queueLen, queueBytes}.fraction(shards)
	return &sendQueue{wake: make(chan struct{}, 1), limit: limit, compactAt: limit.fraction(4)}
}

func (q *sendQueue) put(topic string, payload []byte, rank hub.Rank) {
	m := newBusMessage(topic, payload, rank)
	q.mu.Lock()
	q.messages = append(q.messages, m)
	q.size = queueSize{q.size.count + 1, q.size.bytes + len(m.bytes)}
	q.boundLocked()
	q.mu.Unlock()
	q.notify()
}

func (q *sendQueue) notify() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take removes and returns the messages of one round trip. It wakes the sender again if some are left.
func (q *sendQueue) take() []busMessage {
	q.mu.Lock()
	defer q.mu.Unlock()
	var taken queueSize
	for taken.count < min(len(q.messages), pipelineLen) && taken.bytes < pipelineBytes {
		taken.bytes += len(q.messages[taken.count].bytes)
		taken.count++
	}
	messages := q.messages[:taken.count:taken.count]
	q.messages = q.messages[taken.count:]
	q.size = queueSize{q.size.count - taken.count, q.size.bytes - taken.bytes}
	if len(q.messages) == 0 {
		q.messages, q.compactAt = nil, q.limit.fraction(4)
	} else {
		q.notify()
	}
	return messages
}

// putBack puts messages that could not be sent back to the front of the queue. Messages of rank hub.Loose are
// dropped, because they would arrive too late.
func (q *sendQueue) putBack(messages []busMessage) {
	messages = slices.DeleteFunc(messages, func(m busMessage) bool { return m.rank == hub.Loose })
	q.mu.Lock()
	defer q.mu.Unlock()
	q.messages = append(messages, q.messages...)
	q.size = sizeOf(q.messages)
	q.boundLocked()
}

// boundLocked keeps the queue within its limit. It first drops what compact may drop. If the queue still exceeds half
// of the limit, it sets lost, and drops all messages not of rank hub.Kept and then the oldest kept ones.
func (q *sendQueue) boundLocked() {
	if !q.size.exceeds(q.compactAt) {
		return
	}
	q.setLocked(compact(q.messages))
	if half := q.limit.fraction(2); q.size.exceeds(half) {
		q.lost = true
		q.setLocked(slices.DeleteFunc(q.messages, func(m busMessage) bool { return m.rank != hub.Kept }))
		for q.size.exceeds(half) {
			q.setLocked(slices.Clone(q.messages[(len(q.messages)+1)/2:])) // the oldest are dropped first
		}
	}
	q.compactAt = queueSize{max(2*q.size.count, q.limit.count/4), max(2*q.size.bytes, q.limit.bytes/4)}
}

func (q *sendQueue) setLocked(messages []busMessage) { q.messages, q.size = messages, sizeOf(messages) }

// compact drops loose messages, and each ranked message that a later one of its topic replaces: one with at least the
// same rank. A ranked message before a kept one of its topic stays, because subscribers must see it first.
func compact(messages []busMessage) []busMessage {
	kept := make([]busMessage, 0, len(messages)/2)
	highest := map[string]hub.Rank{} // by topic: the highest rank of the later messages, up to the next kept one
	for _, m := range slices.Backward(messages) {
		switch {
		case m.rank == hub.Kept:
			delete(highest, m.topic)
		case m.rank <= highest[m.topic]: // includes loose messages
			continue
		default:
			highest[m.topic] = m.rank
		}
		kept = append(kept, m)
	}
	slices.Reverse(kept)
	return kept
}

// takeLost reports whether the peers must be told that messages were dropped, and clears this mark.
func (q *sendQueue) takeLost() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	lost := q.lost
	q.lost = false
	return lost
}

// setLost sets the mark that takeLost cleared: the peers were not told, or it is unknown whether they were.
func (q *sendQueue) setLost() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lost = true
}

// empty reports whether there is nothing left to send and no loss to report.
func (q *sendQueue) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.messages) == 0 && !q.lost
}

// headerLen is the length in bytes of the header before each payload: the publisher's id and the message's number. On
// one shard, the numbers of a publisher only grow. A message is sent again if the outcome of the first time is
// unknown. Its number shows receivers that it is a repeat, even if bytes of a lost connection arrive after those of
// the next one.
const headerLen = 16

// busMessage is a payload with its header, on its way to Redis.
type busMessage struct {
	topic string
	rank  hub.Rank
	bytes []byte // header and payload
}

func newBusMessage(topic string, payload []byte, rank hub.Rank) busMessage {
	bytes := make([]byte, headerLen, headerLen+len(payload))
	return busMessage{topic: topic, rank: rank, bytes: append(bytes, payload...)}
}

// setHeader writes the header. Number 0 means that the message has no number yet.
func (m busMessage) setHeader(id, number uint64) {
	binary.BigEndian.PutUint64(m.bytes, id)
	binary.BigEndian.PutUint64(m.bytes[8:], number)
}

func (m busMessage) number() uint64 { return binary.BigEndian.Uint64(m.bytes[8:]) }

// parseHeader decodes the header of a received message.
func parseHeader(s string) (id, number uint64, ok bool) {
	if len(s) < headerLen {
		return 0, 0, false
	}
	var header [headerLen]byte
	copy(header[:], s)
	return binary.BigEndian.Uint64(header[:]), binary.BigEndian.Uint64(header[8:]), true
}
