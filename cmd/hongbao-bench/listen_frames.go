package main

import (
	"encoding/binary"
	"strconv"
	"time"
)

// frameCounter counts the messages in the byte stream of one client, in whatever pieces it arrives. Of frames it looks
// at the heads only.
type frameCounter struct {
	received int // messages received

	head  []byte // the bytes of the current frame's head that have arrived
	left  int    // bytes of the current frame's body that have not arrived
	at    int    // bytes of the current message that have arrived
	stamp []byte // the first bytes of the current message, if take was called with show
}

// take counts the messages in b. Each has the given size. Messages in one frame are separated by one byte. If show is
// not nil, it is called with the first bytes of each message.
func (e *frameCounter) take(b []byte, size int, show func(stamp []byte)) {
	for len(b) > 0 {
		if e.left == 0 {
			e.head = append(e.head, b[0])
			b = b[1:]
			if left, whole := bodySize(e.head); whole {
				e.head, e.left, e.at, e.stamp = e.head[:0], left, 0, e.stamp[:0]
			}
			continue
		}
		n := min(len(b), e.left)
		e.body(b[:n], size, show)
		b = b[n:]
		e.left -= n
	}
}

// body counts the messages that end in this piece of a frame's body.
func (e *frameCounter) body(b []byte, size int, show func(stamp []byte)) {
	for len(b) > 0 {
		if e.at == size { // skips the byte that separates two messages
			e.at = 0
			b = b[1:]
			continue
		}
		n := min(len(b), size-e.at)
		if show != nil && e.at < stampSize {
			e.stamp = append(e.stamp, b[:min(n, stampSize-e.at)]...)
		}
		b = b[n:]
		if e.at += n; e.at < size {
			continue
		}
		e.received++
		if show != nil {
			show(e.stamp)
			e.stamp = e.stamp[:0]
		}
	}
}

// bodySize returns the size of the body from the head of a server's frame. whole is false if the head is not complete.
func bodySize(head []byte) (size int, whole bool) {
	switch {
	case len(head) < 2:
		return 0, false
	case head[1] < 126:
		return int(head[1]), true
	case head[1] == 126 && len(head) == 4:
		return int(binary.BigEndian.Uint16(head[2:])), true
	case head[1] == 127 && len(head) == 10:
		return int(binary.BigEndian.Uint64(head[2:])), true
	}
	return 0, false
}

// stampSize is the length of a message's stamp: the time at which it was due, in nanoseconds since 1970.
const stampSize = 19

func putStamp(message []byte, due time.Time) {
	strconv.AppendInt(message[:0], due.UnixNano(), 10)
}

func parseStamp(stamp []byte) (time.Time, error) {
	nanos, err := strconv.ParseInt(string(stamp), 10, 64)
	return time.Unix(0, nanos), err
}
