package main

import (
	"net"
	"sync"
	"time"
)

// thinLine is a line as it is on a train: every byte is late, and there is room for few of them at a time.
type thinLine struct {
	latency   time.Duration // one way
	perSecond int           // bytes, of all connections together

	mu   sync.Mutex
	free time.Time // guarded by mu; when the next byte may go
}

// carry brings bytes from one side to the other, until either has had enough.
func (l *thinLine) carry(to, from net.Conn) {
	type parcel struct {
		due  time.Time
		data []byte
	}
	under := make(chan parcel, 64)
	var both sync.WaitGroup
	both.Go(func() {
		dead := false
		for p := range under {
			time.Sleep(time.Until(p.due))
			if !dead {
				_, err := to.Write(p.data)
				dead = err != nil
			}
		}
	})
	for {
		data := make([]byte, 2048)
		n, err := from.Read(data)
		if n > 0 {
			under <- parcel{l.turn(n).Add(l.latency), data[:n]}
		}
		if err != nil {
			break
		}
	}
	close(under)
	both.Wait()
}

// turn is when so many bytes have gone into the line.
func (l *thinLine) turn(n int) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); l.free.Before(now) {
		l.free = now
	}
	l.free = l.free.Add(time.Duration(n) * time.Second / time.Duration(l.perSecond))
	return l.free
}
