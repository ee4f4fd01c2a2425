package socket

import (
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
	FrameBytes int                   // maximum size of a client's message
	PingEvery  time.Duration
	PongWithin time.Duration
}

// Group holds what the sockets of a hub share.
type Group struct {
	Shed atomic.Uint64 // frames dropped for slow clients so far
	Slow atomic.Uint64 // clients closed because they were slow so far

	// static
	options     Options
	wheels      *wheel.Wheels
	poller      poll.Poller
	startReader func(*Socket)
	pings       [2][]byte // ping frame of each encoding

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
	raw      syscall.RawConn // nil: not plain TCP, so no write is certain not to block
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

// Behind returns a channel that is closed when the unread replies fit into the queue's bound again, or the connection
// ends. It returns nil if they fit now. A goroutine that queues replies must wait for the channel before it queues
// more; nothing else limits them.
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
	return !s.closing && s.queue.replies.Load() > int64(s.group.options.QueueBytes)
}

// wakeBehindLocked wakes the callers of Behind if the unread replies fit into the bound again.
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
