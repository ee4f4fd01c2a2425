package hub

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"
)

const (
	// drainTick is how often a drain looks at the connections whose moment has come.
	drainTick = 50 * time.Millisecond
	// drainPatience is how long a connection may keep its commands in flight after its moment.
	drainPatience = 10 * time.Second
)

// departure is one connection's moment in a drain.
type departure struct {
	conn *Conn
	at   time.Time
}

// Drain closes every connection with code at a random moment of the window, each after its commands in
// flight were answered (Handler.Idle), and returns when all are gone or ctx is done.
func (h *Hub) Drain(ctx context.Context, window time.Duration, code int, reason string) error {
	ticker := time.NewTicker(drainTick)
	defer ticker.Stop()
	end := time.Now().Add(window)
	leaving := map[*Conn]bool{}
	var departures []departure
	for {
		now := time.Now()
		// Who attaches during the drain gets a moment of what is left of the window.
		for _, c := range h.connections() {
			if !leaving[c] {
				leaving[c] = true
				departures = append(departures, departure{c, randomBetween(now, end)})
			}
		}
		if h.Connections() == 0 {
			return nil
		}
		departures = slices.DeleteFunc(departures, func(d departure) bool {
			if now.Before(d.at) || !d.conn.handler.Idle() && now.Before(d.at.Add(drainPatience)) {
				return false
			}
			d.conn.Close(code, reason)
			return true
		})
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

func randomBetween(from, to time.Time) time.Time {
	if !to.After(from) {
		return from
	}
	return from.Add(rand.N(to.Sub(from)))
}

// connections lists the connections of this moment.
func (h *Hub) connections() []*Conn {
	h.mu.Lock()
	defer h.mu.Unlock()
	conns := make([]*Conn, 0, len(h.conns))
	for c := range h.conns {
		conns = append(conns, c)
	}
	return conns
}
