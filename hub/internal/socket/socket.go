package socket

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gorilla/websocket"

	"hongbao/hub/internal/poll"
	"hongbao/hub/internal/wheel"
)

// Owner is the connection that a Socket belongs to. Its methods must not block. Only the function rest that Frame
// returns may block.
type Owner interface {
	// Frame handles one whole message of the client. It may run on a goroutine that serves many connections. data is
	// valid only during the call. flush means that replies were queued, so the socket flushes. If rest is not nil, the
	// socket runs it on a goroutine of this connection, and reads the next message after it.
	Frame(binary bool, data []byte) (flush bool, rest func())
	// Control is called for each ping and pong frame. It returns false if it has closed the socket: then nothing more is
	// read from the client.
	Control() bool
	// Idle reports whether the client has no command in progress.
	Idle() bool
	// Left is called once, when nothing more will be read from the client.
	Left()
	// Gone is called once, after Left, when the socket is closed. code is the code of the close frame that the server
	// sent; 0: it sent none. byPeer means that the peer's close frame came first.
	Gone(code int, byPeer bool)
}

// Options holds the settings that all sockets of a group share.
type Options struct {
	Ping       func(Encoding) []byte // the liveness message, without frame or delimiter
	QueueBytes int                   // bound of the queued pushes of a socket
	ReplyBytes int64                 // bound of the unread replies of all sockets and elsewhere; see Group.Relieve
	FrameBytes int                   // maximum size of a client's message
	PingEvery  time.Duration
	PongWithin time.Duration
}

// Group holds what the sockets of a hub share.
type Group struct {
	Shed atomic.Uint64 // frames dropped for slow clients so far
	Slow atomic.Uint64 // clients closed because they were slow so far

	Elsewhere atomic.Int64 // bytes of replies that wait for clients without a socket; the owner of the group counts them

	replies atomic.Int64 // bytes of the replies of all sockets that are in a queue or being written

	// static
	options      Options
	wheels       *wheel.Wheels
	poller       poll.Poller
	startReader  func(*Socket)
	pings        [2][]byte     // ping frame of each encoding
	closeTimeout time.Duration // closeTimeout; tests set another one

	pinged *Round // sockets that were pinged at this tick and must be flushed; owned by the goroutine that calls Tick

	mu       sync.Mutex
	deferred []*Socket // sockets with deferred frames, which wait for the next tick; guarded by mu
}

// Socket is one WebSocket connection. Its methods may be called from any goroutine, and none of them blocks.
type Socket struct {
	// static after Start
	group    *Group
	owner    Owner
	ws       *websocket.Conn
	raw      syscall.RawConn // nil: not plain TCP, so every write may block
	pollable *pollable       // nil: no poller can watch it
	flush    func()          // flusher.run as a value: starting it allocates nothing
	fd       int32           // file descriptor of pollable
	encoding Encoding

	heard   atomic.Bool  // a frame was received since the last ping
	busy    atomic.Bool  // the reader is handling a message, so it reads nothing
	started atomic.Int64 // the tick at which the message being read began; 0: none

	queue queue // guarded by mu, except its byte counts

	writeBy time.Duration // the write deadline, as time since the start of the wheels; owned by the flusher

	mu          sync.Mutex // guards the fields below
	timer       wheel.Timer
	pingAt      wheel.Tick // 0: never
	pongBy      wheel.Tick
	closeAt     wheel.Tick
	closeReason string        // reason of the scheduled close
	caughtUp    chan struct{} // closed when callers of Behind may continue; nil: no caller waits
	closeCode   uint16        // code of the scheduled close
	code        uint16        // code of the close frame that the server sent; 0: none
	byPeer      bool          // the peer's close frame came first
	parked      bool          // a poller watches the socket, so it has no reader goroutine
	holding     bool          // frames wait for Release
	flushing    bool          // a flusher is running
	deferred    bool          // the socket is in group.deferred
	ticks       int8          // how many ticks the deferred frames have waited
	closing     bool          // a close frame is queued or the connection is lost: no frame may be queued
	left        bool          // the reading has ended
}

// Encoding returns the encoding in which the client receives messages.
func (s *Socket) Encoding() Encoding { return s.encoding }

// Closing reports whether the connection is about to end. No frame can be queued then.
func (s *Socket) Closing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closing
}

// QueuedBytes returns how many bytes wait to be sent to the client.
func (s *Socket) QueuedBytes() int64 { return s.queue.pushes.Load() + s.queue.replies.Load() }

// UnreadReplies returns how many bytes of replies wait to be sent to the client.
func (s *Socket) UnreadReplies() int64 { return s.queue.replies.Load() }

// Behind returns nil if this socket's unread replies fit into Options.QueueBytes. Otherwise it returns a channel that is
// closed when they fit again or the connection ends. While the unread replies of the group exceed half of
// Options.ReplyBytes, only a socket without unread replies gets nil. A goroutine that queues replies must wait for the
// channel before it queues more; nothing else limits them.
func (s *Socket) Behind() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.behindLocked() {
		return nil
	}
	if s.caughtUp == nil {
		s.caughtUp = make(chan struct{})
	}
	return s.caughtUp
}

func (s *Socket) behindLocked() bool {
	unread := s.queue.replies.Load()
	return !s.closing && unread > 0 && (unread > int64(s.group.options.QueueBytes) || s.group.unread() > s.group.options.ReplyBytes/2)
}

// wakeBehindLocked wakes the goroutines that wait for the channel of Behind, if Behind would return nil now.
func (s *Socket) wakeBehindLocked() {
	if s.caughtUp != nil && !s.behindLocked() {
		close(s.caughtUp)
		s.caughtUp = nil
	}
}

// mustFlushLocked reports whether the caller must call Flush. If it returns true, a flusher counts as running, so that
// no other goroutine starts one.
func (s *Socket) mustFlushLocked() bool {
	must := s.queue.ready != nil && !s.flushing
	s.flushing = s.flushing || must
	return must
}

// startFlusherLocked starts a flusher goroutine if frames are ready and no flusher is running.
func (s *Socket) startFlusherLocked() {
	if s.mustFlushLocked() {
		go s.flush()
	}
}

// rearmLocked sets the socket's timer to the earliest tick at which something is due.
func (s *Socket) rearmLocked() {
	if s.closing {
		return
	}
	var due wheel.Tick
	for _, at := range [...]wheel.Tick{s.pingAt, s.pongBy, s.closeAt} {
		if at != 0 && (due == 0 || at < due) {
			due = at
		}
	}
	if due == 0 {
		s.timer.Disarm()
		return
	}
	s.timer.Arm(due)
}

// queue holds the frames that wait to be written to one connection. The lock of its Socket guards it. Only the byte
// counts, which are atomic, may be used without that lock.
type queue struct {
	ready   *batch        // nil: empty
	held    *batch        // frames queued between Hold and Release; nil: empty
	pushes  atomic.Int64  // bytes of the pushes that are in the queue or being written
	replies atomic.Int64  // bytes of the replies that are in the queue or being written
	all     *atomic.Int64 // Group.replies; static
}

// admit decides whether a push may be queued. The limit is on the bytes of pushes that are queued or being written; replies
// do not count. If no pushes are waiting, a push of any size is accepted. If the push does not fit and is marked Shed, it is
// dropped itself. For any other push that does not fit, all frames in the queue that are marked Shed are dropped. ok is false
// if the push still does not fit. shed is the number of frames dropped.
func (q *queue) admit(f Frame, limit int64) (ok bool, shed int) {
	size := int64(len(f.Bytes))
	fits := func() bool {
		pushes := q.pushes.Load()
		return pushes == 0 || pushes+size <= limit
	}
	if fits() {
		return true, 0
	}
	if f.Shed {
		return false, 1
	}
	shed = q.shed(&q.ready) + q.shed(&q.held)
	return fits(), shed
}

// shed drops all frames of a batch that are marked Shed, and returns how many.
func (q *queue) shed(from **batch) (count int) {
	b := *from
	if b == nil {
		return 0
	}
	kept := b.frames[:0]
	for _, f := range b.frames {
		if f.Shed {
			q.count(f, -1)
			count++
			continue
		}
		kept = append(kept, f)
	}
	clear(b.frames[len(kept):])
	b.frames = kept
	if len(kept) == 0 {
		q.drop(from)
	}
	return count
}

// push appends a frame to one of the queue's two batches, ready or held.
func (q *queue) push(to **batch, f Frame) {
	q.count(f, 1)
	if *to == nil {
		*to = batches.Get().(*batch)
	}
	(*to).frames = append((*to).frames, f)
}

// release moves the held frames behind the ready frames, and reports whether there were any.
func (q *queue) release() bool {
	switch {
	case q.held == nil:
		return false
	case q.ready == nil:
		q.ready = q.held
	default:
		q.ready.frames = append(q.ready.frames, q.held.frames...)
		q.held.recycle()
	}
	q.held = nil
	return true
}

// take removes and returns all ready frames, or nil if there are none. Their bytes count as queued until they are
// written.
func (q *queue) take() *batch {
	b := q.ready
	q.ready = nil
	return b
}

// drop empties one of the queue's two batches, ready or held.
func (q *queue) drop(from **batch) {
	b := *from
	if b == nil {
		return
	}
	for _, f := range b.frames {
		q.count(f, -1)
	}
	*from = nil
	b.recycle()
}

// count updates the byte counts for a frame that is added (sign 1) or removed (sign -1).
func (q *queue) count(f Frame, sign int64) {
	if f.reply {
		q.replies.Add(sign * int64(len(f.Bytes)))
		q.all.Add(sign * int64(len(f.Bytes)))
		return
	}
	q.pushes.Add(sign * int64(len(f.Bytes)))
}

// deferredShare is a divisor: deferred frames wait only while the pushes in the queue fill at most 1/16 of its bound.
const deferredShare = 16

// Deliver queues a push. If it returns true, the caller must call Flush soon, directly or through a Round.
func (s *Socket) Deliver(f Frame) (flush bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.enqueueLocked(f)
}

// Reply queues a message for this client alone. Replies do not count toward Options.QueueBytes, and are dropped only when the
// connection closes. Callers limit them by waiting for Behind; Relieve ends sockets that have too many. If Reply returns true,
// the caller must call Flush soon.
func (s *Socket) Reply(message []byte) (flush bool) {
	return s.Deliver(Frame{Bytes: EncodeFrame(s.encoding, message), reply: true})
}

// enqueueLocked queues a frame. If it returns true, the caller must call Flush after it unlocks.
func (s *Socket) enqueueLocked(f Frame) (flush bool) {
	if s.closing || !f.reply && !s.admitLocked(f) {
		return false
	}
	if s.holding && !isControl(f.Bytes) {
		s.queue.push(&s.queue.held, f)
		return false
	}
	s.queue.push(&s.queue.ready, f)
	if f.Deferred && s.queue.pushes.Load() <= int64(s.group.options.QueueBytes)/deferredShare {
		s.deferLocked()
		return false
	}
	return s.mustFlushLocked()
}

// admitLocked reports whether a push may be queued. If the client is too slow, it closes the connection and returns
// false.
func (s *Socket) admitLocked(f Frame) bool {
	ok, shed := s.queue.admit(f, int64(s.group.options.QueueBytes))
	if shed > 0 {
		s.group.Shed.Add(uint64(shed))
	}
	if !ok && !f.Shed {
		s.group.Slow.Add(1)
		s.queue.drop(&s.queue.ready)
		s.closeLocked(CloseSlow, "too slow")
	}
	return ok
}

// deferLocked schedules a flush for the next tick. An earlier write takes the deferred frames along.
func (s *Socket) deferLocked() {
	if s.deferred || s.flushing {
		return
	}
	s.deferred = true
	s.group.mu.Lock()
	defer s.group.mu.Unlock()
	s.group.deferred = append(s.group.deferred, s)
}

// Hold delays all frames queued from now on, except control frames, until Release is called.
func (s *Socket) Hold() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holding = true
}

// Release queues the message first, if it is not nil, and then all frames that Hold has delayed. The socket pings the client
// from then on.
func (s *Socket) Release(first []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holding = false
	if first != nil && s.enqueueLocked(Frame{Bytes: EncodeFrame(s.encoding, first), reply: true}) {
		go s.flush()
	}
	if s.closing {
		return
	}
	if s.queue.release() {
		s.startFlusherLocked()
	}
	if s.pingAt == 0 {
		s.pingAt = s.group.wheels.After(rand.N(s.group.options.PingEvery)) // random, so that clients are not all pinged together
		s.rearmLocked()
	}
}

// unread returns the bytes of all replies that wait for clients.
func (g *Group) unread() int64 { return g.replies.Load() + g.Elsewhere.Load() }

// Relieve ends sockets, those with the most unread replies first, until the replies of the others and those elsewhere fit
// into Options.ReplyBytes. The ended clients get no close frame, because they have stopped reading. list returns all
// sockets.
func (g *Group) Relieve(list func() []*Socket) {
	if g.unread() <= g.options.ReplyBytes {
		return
	}
	sockets := slices.DeleteFunc(list(), (*Socket).Closing)
	unread := make(map[*Socket]int64, len(sockets))
	sum := g.Elsewhere.Load()
	for _, s := range sockets {
		unread[s] = s.UnreadReplies()
		sum += unread[s]
	}
	slices.SortFunc(sockets, func(a, b *Socket) int { return cmp.Compare(unread[b], unread[a]) })
	for _, s := range sockets {
		if sum <= g.options.ReplyBytes {
			return
		}
		sum -= unread[s]
		g.Slow.Add(1)
		s.Abort()
	}
}

// deferredTicks is the largest number of ticks that a deferred frame waits for a reply that the client expects.
const deferredTicks = 4

// Tick flushes the sockets that were pinged at this tick, and those whose deferred frames have waited long enough. A
// deferred frame often leaves in one write with a reply or a message. That saves a write, which is the largest part of
// the cost of a push for server and client. One goroutine calls Tick, after it has advanced the wheels.
func (g *Group) Tick() {
	g.pinged.Start()
	g.pinged = nil

	g.mu.Lock()
	sockets := g.deferred
	g.deferred = nil
	g.mu.Unlock()
	var round *Round
	waiting := sockets[:0]
	for _, s := range sockets {
		switch wait, flush := s.endDeferral(!s.owner.Idle()); {
		case wait:
			waiting = append(waiting, s)
		case flush:
			round = round.Join(s)
		}
	}
	round.Start()
	g.mu.Lock()
	g.deferred = append(g.deferred, waiting...)
	g.mu.Unlock()
}

// endDeferral decides, once per tick, about the deferred frames of a socket. busy means that the client expects a
// reply. wait means that the frames wait for another tick. flush means that the caller must call Flush.
func (s *Socket) endDeferral(busy bool) (wait, flush bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ticks++
	if busy && s.ticks < deferredTicks {
		return true, false
	}
	s.deferred, s.ticks = false, 0
	return false, s.mustFlushLocked()
}
