package main

import (
	"encoding/binary"
	"strconv"
	"time"
)

// ear takes a client's frames apart, however the network has cut them. It looks at their heads only.
type ear struct {
	heard int // messages

	head  []byte // of the frame that is coming in, as far as it is here
	left  int    // bytes of its body that are to come
	at    int    // bytes of the message that is coming in
	stamp []byte // the first ones, when they are to be shown
}

// take counts messages of so many bytes; those that share a frame have a byte between them. Each one's first bytes are shown,
// if anybody wants to see them.
func (e *ear) take(b []byte, size int, show func(stamp []byte)) {
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

// body counts the messages that end in a part of a body.
func (e *ear) body(b []byte, size int, show func(stamp []byte)) {
	for len(b) > 0 {
		if e.at == size { // what is between two
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
		e.heard++
		if show != nil {
			show(e.stamp)
			e.stamp = e.stamp[:0]
		}
	}
}

// bodySize reads the head of a server's frame; false: more of it is to come.
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

// stampSize is how long a message's stamp is: when it was due, in nanoseconds since 1970.
const stampSize = 19

func putStamp(message []byte, due time.Time) {
	strconv.AppendInt(message[:0], due.UnixNano(), 10)
}

func parseStamp(stamp []byte) (time.Time, error) {
	nanos, err := strconv.ParseInt(string(stamp), 10, 64)
	return time.Unix(0, nanos), err
}
