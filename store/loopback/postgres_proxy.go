package loopback

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"sync"
)

// PostgresProxy is a Proxy in front of a Postgres or a PgBouncer. It can make a client seem to stop between two of
// its messages, or in the middle of one. The connections must not use TLS.
type PostgresProxy struct {
	*Proxy

	mu   sync.Mutex
	plan *stopPlan // of the last StopAfter; nil: there was none, or Resume has ended it
}

// Stop is how a client seems to stop.
type Stop string

const (
	// Freeze keeps all connections open and forwards nothing more, as when the client's process is stopped.
	Freeze Stop = "freeze"
	// Cut closes all connections and forwards nothing on new ones, as when the client's process is killed.
	Cut Stop = "cut"
	// Half forwards the first half of the next message and then acts like Freeze.
	Half Stop = "half"
)

// stopPlan says when and how the client of one connection stops.
type stopPlan struct {
	from    []byte // counting starts at the first message that contains this
	after   int    // number of messages to forward, including the first
	how     Stop
	conn    net.Conn // connection of the first counted message
	sent    int      // messages forwarded since then
	stopped chan struct{}
}

// StartPostgresProxy listens on a free port for connections to the target, given as host:port.
func StartPostgresProxy(target string) (*PostgresProxy, error) {
	p := &PostgresProxy{Proxy: &Proxy{target: target, open: map[net.Conn]struct{}{}}}
	p.requests = p.carryMessages
	return p, p.start()
}

// StopAfter makes the client seem to stop after it has sent this number of messages on one connection. Counting
// starts at the first message that contains the text. With Half, the first half of the next message follows. The
// returned channel is closed when the client has stopped.
func (p *PostgresProxy) StopAfter(messages int, from string, how Stop) (stopped <-chan struct{}) {
	plan := &stopPlan{from: []byte(from), after: messages, how: how, stopped: make(chan struct{})}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.plan = plan
	return plan.stopped
}

// Resume ends what StopAfter began. All open connections are closed, and new ones are forwarded.
func (p *PostgresProxy) Resume() {
	p.mu.Lock()
	p.plan = nil
	p.mu.Unlock()
	p.Swallow(false)
	p.Cut()
}

// carryMessages forwards the messages of a client until either end fails. It reads each message as a whole, so that StopAfter
// can count messages. Tear and Delay do not apply here: in a PostgresProxy they affect only replies.
func (p *PostgresProxy) carryMessages(to, from net.Conn, _ int64) {
	defer to.Close()   //nolint:errcheck // the connection is not used any more
	defer from.Close() //nolint:errcheck // the connection is not used any more
	r := bufio.NewReader(from)
	for typed := false; ; typed = true { // the first message of a connection has no type
		message, err := readMessage(r, typed)
		if err != nil {
			return
		}
		carried := p.carriedBytes(from, message)
		if _, err := to.Write(message[:carried]); err != nil {
			return
		}
		p.count(from)
	}
}

// readMessage reads one message: a type if typed is set, a length that counts itself, and the rest of that length.
func readMessage(r *bufio.Reader, typed bool) ([]byte, error) {
	head := make([]byte, 4, 5)
	if typed {
		head = head[:5]
	}
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	length := int(binary.BigEndian.Uint32(head[len(head)-4:]))
	message := make([]byte, len(head)+max(length-4, 0))
	copy(message, head)
	_, err := io.ReadFull(r, message[len(head):])
	return message, err
}

// carriedBytes returns how many bytes of a message to forward: all, half, or none after the client has stopped.
func (p *PostgresProxy) carriedBytes(from net.Conn, message []byte) (carried int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.swallow.Load() {
		return 0
	}
	plan := p.plan
	if plan == nil {
		return len(message)
	}
	if plan.conn == nil && bytes.Contains(message, plan.from) {
		plan.conn = from
	}
	if plan.conn == from && plan.how == Half && plan.sent == plan.after {
		return len(message) / 2
	}
	return len(message)
}

// count counts a forwarded message. After the last one of the plan it stops the client.
func (p *PostgresProxy) count(from net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	plan := p.plan
	if plan == nil || plan.conn != from || p.swallow.Load() {
		return
	}
	plan.sent++
	last := plan.after
	if plan.how == Half {
		last++
	}
	if plan.sent < last {
		return
	}
	p.Swallow(true)
	if plan.how == Cut {
		p.Cut()
	}
	close(plan.stopped)
}
