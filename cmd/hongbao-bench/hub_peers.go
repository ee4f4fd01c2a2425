package main

import (
	"net"
	"sync"
	"time"
)

// textFrame returns a WebSocket frame as a server sends it. The payload must be longer than 125 bytes and shorter than
// 64 KiB.
func textFrame(payload []byte) []byte {
	return append([]byte{0x81, 126, byte(len(payload) >> 8), byte(len(payload))}, payload...)
}

// writeEach is the peer for one message in flight: it writes the same bytes to one socket after the other.
func (a *socketGroup) writeEach(payload []byte) error {
	frame := textFrame(payload)
	for _, ws := range a.conns {
		if _, err := ws.NetConn().Write(frame); err != nil {
			return err
		}
	}
	return nil
}

// queuedWriters is the peer for many messages in flight. Each socket has a queue, and a goroutine that writes all
// queued frames in one Write. A message is encoded once for all sockets.
type queuedWriters struct {
	queues []chan []byte
	all    sync.WaitGroup
}

const (
	queueLength        = 256
	queuedWriteTimeout = time.Second
)

func newQueuedWriters(a *socketGroup) *queuedWriters {
	c := &queuedWriters{}
	for _, ws := range a.conns {
		queue := make(chan []byte, queueLength)
		c.queues = append(c.queues, queue)
		c.all.Go(func() { drain(queue, ws.NetConn()) })
	}
	return c
}

// drain writes the frames of the queue until the queue is closed. A failed write is not reported: the client then has
// too few messages.
func drain(queue <-chan []byte, conn net.Conn) {
	var b []byte
	for frame := range queue {
		b = append(b[:0], frame...)
		for range len(queue) {
			b = append(b, <-queue...)
		}
		_ = conn.SetWriteDeadline(time.Now().Add(queuedWriteTimeout))
		_, _ = conn.Write(b)
	}
}

// send puts a message into all queues.
func (c *queuedWriters) send(payload []byte) error {
	frame := textFrame(payload)
	for _, queue := range c.queues {
		queue <- frame
	}
	return nil
}

// close ends the goroutines.
func (c *queuedWriters) close() error {
	for _, queue := range c.queues {
		close(queue)
	}
	c.all.Wait()
	return nil
}
