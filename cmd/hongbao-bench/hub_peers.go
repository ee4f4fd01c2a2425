package main

import (
	"net"
	"sync"
	"time"
)

// textFrame is a message as a server sends it: the same bytes for everybody. It is longer than 125 bytes, and shorter than
// 64 KiB.
func textFrame(payload []byte) []byte {
	return append([]byte{0x81, 126, byte(len(payload) >> 8), byte(len(payload))}, payload...)
}

// writeEach is the bare loop: the same bytes, written to one socket after the other.
func (a *audience) writeEach(payload []byte) error {
	frame := textFrame(payload)
	for _, ws := range a.conns {
		if _, err := ws.NetConn().Write(frame); err != nil {
			return err
		}
	}
	return nil
}

// corked is what one writes when a loop is too slow: each socket has a queue and a goroutine, which joins the frames that
// wait, encoded once for all, in one Write.
type corked struct {
	queues []chan []byte
	all    sync.WaitGroup
}

const (
	corkedQueue    = 256
	corkedPatience = time.Second
)

func newCorked(a *audience) *corked {
	c := &corked{}
	for _, ws := range a.conns {
		queue := make(chan []byte, corkedQueue)
		c.queues = append(c.queues, queue)
		c.all.Go(func() { drain(queue, ws.NetConn()) })
	}
	return c
}

// drain writes what comes into the queue, until it is closed. Who cannot be written to is found by those who count.
func drain(queue <-chan []byte, conn net.Conn) {
	var b []byte
	for frame := range queue {
		b = append(b[:0], frame...)
		for range len(queue) {
			b = append(b, <-queue...)
		}
		_ = conn.SetWriteDeadline(time.Now().Add(corkedPatience))
		_, _ = conn.Write(b)
	}
}

// send puts a message into all queues.
func (c *corked) send(payload []byte) error {
	frame := textFrame(payload)
	for _, queue := range c.queues {
		queue <- frame
	}
	return nil
}

// close ends the goroutines.
func (c *corked) close() error {
	for _, queue := range c.queues {
		close(queue)
	}
	c.all.Wait()
	return nil
}
