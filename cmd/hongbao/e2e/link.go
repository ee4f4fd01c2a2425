package e2e

import (
	"net"
	"sync"
	"time"
)

// SlowLink delays and throttles the bytes of all connections of a Balancer, as a mobile network on a train does.
type SlowLink struct {
	Latency   time.Duration // one way
	PerSecond int           // bytes, of all connections together

	mu   sync.Mutex
	free time.Time // guarded by mu; when the next byte may be sent
}

// copy moves bytes from one connection to the other until from fails or ends. After a failed write it discards what it reads.
func (l *SlowLink) copy(to, from net.Conn) {
	type chunk struct {
		due  time.Time
		data []byte
	}
	inTransit := make(chan chunk, 64)
	var writer sync.WaitGroup
	writer.Go(func() {
		dead := false
		for c := range inTransit {
			time.Sleep(time.Until(c.due)) // sleeps: the link is slow
			if !dead {
				_, err := to.Write(c.data)
				dead = err != nil
			}
		}
	})
	for {
		data := make([]byte, 2048)
		n, err := from.Read(data)
		if n > 0 {
			inTransit <- chunk{l.reserve(n).Add(l.Latency), data[:n]}
		}
		if err != nil {
			break
		}
	}
	close(inTransit)
	writer.Wait()
}

// reserve returns the time at which n more bytes have entered the link.
func (l *SlowLink) reserve(n int) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); l.free.Before(now) {
		l.free = now
	}
	l.free = l.free.Add(time.Duration(n) * time.Second / time.Duration(l.PerSecond))
	return l.free
}
