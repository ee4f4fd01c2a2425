package load

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

// socket is one connection of a client. It reads all messages at a low cost: with one goroutine, and with one read for many
// messages.
type socket struct {
	conn     net.Conn
	writable atomic.Int64 // end of the write deadline, in Unix seconds

	buffer []byte // bytes read; used by the reading goroutine only
	unread int    // bytes at the front of buffer that are a part of a frame
}

const (
	dialPatience  = 20 * time.Second
	writePatience = 10 * time.Second
	readAhead     = 2 << 10 // bytes; a longer frame makes the buffer grow
)

// frames holds buffers of outgoing frames.
var frames = sync.Pool{New: func() any { return new(frame) }}

// dial opens a socket at an instance. The server sends nothing before the first command, so the dialer cannot have read a
// message.
func dial(ctx context.Context, url string) (*socket, error) {
	d := websocket.Dialer{ReadBufferSize: 512, WriteBufferSize: 512, HandshakeTimeout: dialPatience}
	ws, response, err := d.DialContext(ctx, url, nil)
	if response != nil {
		_ = response.Body.Close()
	}
	if err != nil && response != nil && response.StatusCode == http.StatusServiceUnavailable {
		return nil, errRefused
	}
	if err != nil {
		return nil, fmt.Errorf("dial: %w", err)
	}
	return &socket{conn: ws.NetConn(), buffer: make([]byte, readAhead)}, nil
}

// send writes the text that text appends as one frame.
func (s *socket) send(text func(b []byte) []byte) error {
	f := frames.Get().(*frame)
	defer frames.Put(f)
	return s.write(f.fill(opText, text))
}

// pong answers a ping of the protocol.
func (s *socket) pong() error {
	return s.send(func(b []byte) []byte { return append(b, "{}"...) })
}

// write writes a whole frame. It moves the write deadline only after half of the time has passed: moving it costs as
// much as reading an answer.
func (s *socket) write(frame []byte) error {
	now := time.Now()
	if now.Add(writePatience/2).Unix() > s.writable.Load() {
		deadline := now.Add(writePatience)
		s.writable.Store(deadline.Unix())
		_ = s.conn.SetWriteDeadline(deadline)
	}
	_, err := s.conn.Write(frame)
	return err
}

// receive waits for data, and calls show with each complete message and its time of arrival. A message is valid during
// the call only.
func (s *socket) receive(show func(text []byte, now time.Time) error) error {
	n, err := s.conn.Read(s.buffer[s.unread:])
	if err != nil {
		return err
	}
	now := time.Now()
	rest := s.buffer[:s.unread+n]
	for {
		op, content, size, err := readFrame(rest)
		if err != nil {
			return err
		}
		if size > len(rest) || size == 0 {
			break
		}
		rest = rest[size:]
		if err := s.take(op, content, func(text []byte) error { return show(text, now) }); err != nil {
			return err
		}
	}
	s.unread = copy(s.buffer, rest)
	if s.unread == len(s.buffer) {
		s.buffer = append(s.buffer, make([]byte, len(s.buffer))...)
	}
	return nil
}

// take handles one frame of the server: it calls show with each line of a text frame, and answers a ping.
func (s *socket) take(op opcode, content []byte, show func(text []byte) error) error {
	switch op {
	case opText:
		for len(content) > 0 {
			var text []byte
			text, content, _ = bytes.Cut(content, []byte("\n"))
			if err := show(text); err != nil {
				return err
			}
		}
		return nil
	case opPing:
		f := frames.Get().(*frame)
		defer frames.Put(f)
		return s.write(f.fill(opPong, func(b []byte) []byte { return append(b, content...) }))
	case opPong:
		return nil
	case opClose:
		return fmt.Errorf("closed by the server: %.100q", content)
	}
	return fmt.Errorf("unexpected frame of kind %d", op)
}

// close closes the connection without a close frame, as a broken connection ends.
func (s *socket) close() { _ = s.conn.Close() }

// opcode is the kind of a frame, as RFC 6455 numbers them.
type opcode byte

const (
	opText  opcode = 0x1
	opClose opcode = 0x8
	opPing  opcode = 0x9
	opPong  opcode = 0xa
)

// frame is the reusable buffer of one outgoing frame.
type frame []byte

// headRoom is the longest frame head: two bytes, eight of length, four of mask.
const headRoom = 2 + 8 + 4

// fill replaces the frame by one with the content that content appends. Its mask is zero, which leaves the content
// unchanged: a mask protects proxies, and a load test needs no such protection.
func (f *frame) fill(op opcode, content func(b []byte) []byte) []byte {
	b := content(append((*f)[:0], make([]byte, headRoom)...))
	*f = b
	head := [headRoom]byte{0x80 | byte(op), 0x80}
	n, size := len(b)-headRoom, 2
	switch {
	case n < 126:
		head[1] |= byte(n)
	case n < 1<<16:
		head[1], size = 0x80|126, 2+2
		binary.BigEndian.PutUint16(head[2:], uint16(n))
	default:
		head[1], size = 0x80|127, 2+8
		binary.BigEndian.PutUint64(head[2:], uint64(n))
	}
	b = b[headRoom-size-4:] // 4 is the mask
	copy(b, head[:size+4])
	return b
}

// framed returns a frame with the text, to be sent repeatedly.
func framed(text []byte) []byte {
	return new(frame).fill(opText, func(b []byte) []byte { return append(b, text...) })
}

// maxFrame is far more than hongbao sends in one frame. A longer frame is an error.
const maxFrame = 64 << 20

// readFrame parses the frame at the start of b. size is its length, 0 if the head is incomplete; content is set only if b
// holds the whole frame.
func readFrame(b []byte) (op opcode, content []byte, size int, err error) {
	if len(b) < 2 {
		return 0, nil, 0, nil
	}
	if b[0]&0xf0 != 0x80 || b[1]&0x80 != 0 {
		return 0, nil, 0, fmt.Errorf("unexpected frame head: % x", b[:2])
	}
	head, n := 2, int(b[1])
	switch {
	case n == 126 && len(b) >= 4:
		head, n = 4, int(binary.BigEndian.Uint16(b[2:]))
	case n == 127 && len(b) >= 10:
		head, n = 10, int(min(binary.BigEndian.Uint64(b[2:]), maxFrame+1))
	case n >= 126:
		return 0, nil, 0, nil
	}
	if n > maxFrame {
		return 0, nil, 0, fmt.Errorf("frame of %d bytes is too long", n)
	}
	if size = head + n; size <= len(b) {
		content = b[head:size]
	}
	return opcode(b[0] & 0xf), content, size, nil
}

// connectReply holds the parts of a connect reply that this program needs.
type connectReply struct {
	Subs map[string]struct {
		Recovered    bool              `json:"recovered"`
		Epoch        string            `json:"epoch"`
		Offset       int64             `json:"offset"`
		Publications []json.RawMessage `json:"publications"`
	} `json:"subs"`
}

// connectTimeout is how long a user waits for the connect reply.
const connectTimeout = 15 * time.Second

// sendConnect sends the connect command.
func (u *user) sendConnect(s *socket) error {
	frame, err := u.connectFrame()
	if err != nil {
		return err
	}
	return s.send(func(b []byte) []byte { return append(b, frame...) })
}

// connectFrame returns the connect command. After the first connect, it names the user's positions in all rooms.
func (u *user) connectFrame() ([]byte, error) {
	subs := map[string]any{}
	for _, j := range u.journals {
		if u.epoch != "" {
			subs[j.room.channel] = map[string]any{"recover": true, "epoch": u.epoch, "offset": j.last.Load()}
		}
	}
	return json.Marshal(map[string]any{"id": 1, "connect": map[string]any{"token": u.token, "name": "load", "subs": subs}})
}

// readConnectReply reads the first message of a connection, which must be the connect reply.
func (u *user) readConnectReply(ctx context.Context) error {
	l := &u.message
	if l.kind == refused {
		failure := l.refusal
		failure.word = slices.Clone(failure.word)
		return &failure
	}
	if l.kind != reply || l.id != 1 {
		return fmt.Errorf("the first message is not the connect reply: %+v", *l)
	}
	var w connectReply
	if err := json.Unmarshal(l.data, &w); err != nil {
		return err
	}
	u.mu.Lock()
	u.next = 1
	u.mu.Unlock()
	return u.catchUp(ctx, w)
}

// catchUp reads the entries that the user has missed: from the connect reply or, for rooms that the server could not recover,
// from the history.
func (u *user) catchUp(ctx context.Context, w connectReply) error {
	for _, j := range u.journals {
		sub, in := w.Subs[j.room.channel]
		switch {
		case !in:
			u.group.checks.fault(checkComplete, "%s is no longer in %s", u.id, j.room.id)
			continue
		case u.epoch == "":
			j.start(sub.Offset)
		case sub.Recovered:
			for _, p := range sub.Publications {
				var e entry
				c := newCursor(p)
				if e.read(&c); !c.ok {
					return fmt.Errorf("not a publication: %s", p)
				}
				j.receive(&e, u.group.checks)
			}
		default:
			u.group.runStats.failed("not_recovered")
			if err := u.readHistory(ctx, j, sub.Offset); err != nil {
				return err
			}
		}
	}
	for _, sub := range w.Subs {
		u.epoch = sub.Epoch
	}
	return nil
}

// readHistory reads a room's history into the journal, up to a seq.
func (u *user) readHistory(ctx context.Context, j *journal, upTo int64) error {
	for j.last.Load() < upTo {
		page, err := u.group.target.history(ctx, u, j.room.id, j.last.Load())
		if err != nil {
			return err
		}
		if len(page) == 0 {
			return fmt.Errorf("the history of %s ends at %d, the last seq is %d", j.room.id, j.last.Load(), upTo)
		}
		for i := range page {
			j.receive(&page[i], u.group.checks)
		}
	}
	return nil
}
