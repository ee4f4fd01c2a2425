package poll

import (
	"context"
	"errors"
	"os"
	"runtime"
	"sync"
	"syscall"
)

// New returns the best poller for this operating system. On Linux that is the epoll poller.
func New() Poller { return NewEpoll() }

// Epoll is the Poller for Linux. It has one loop for each goroutine that can run at a time (GOMAXPROCS). The loops
// start when the first connection is to be watched.
type Epoll struct {
	wanted chan struct{} // one slot, never closed: the first connection is to be watched
	loops  []loop        // static
}

// loop waits for some of the connections, with an epoll instance of its own. The Go runtime's own poller watches that
// instance, so a waiting loop occupies no thread.
//
// The instance is edge-triggered: it reports each arrival of data once. A connection is registered from its first Watch
// until its socket is closed. While a reader goroutine reads the connection, the loop ignores reports about it.
type loop struct {
	every int // number of loops: loop i watches the file descriptors fd with fd % every = i; static

	// owned by run
	events  [maxEvents]syscall.EpollEvent
	buffer  [readBuffer]byte
	n       int   // bytes read into buffer
	err     error // error of the last read
	replied []Conn
	read    func(fd uintptr) // l.readOnce as a value: passing it allocates nothing

	mu    sync.Mutex // guards the fields below
	on    bool
	epoll int
	conns []Conn // at index file descriptor / every; nil: none
}

const (
	maxEvents  = 128     // most events that one call of epoll_wait returns
	readBuffer = 4 << 10 // a longer message is read by a reader goroutine

	// events are the epoll events that wake a loop: data, the end of the stream, and urgent data. The last two are left
	// to a reader goroutine, because a single read may stop before them. 1<<31 is EPOLLET, which syscall declares with
	// the wrong sign.
	events = syscall.EPOLLIN | syscall.EPOLLRDHUP | syscall.EPOLLPRI | 1<<31
)

// NewEpoll returns a poller that is not running yet.
func NewEpoll() *Epoll {
	p := &Epoll{wanted: make(chan struct{}, 1), loops: make([]loop, runtime.GOMAXPROCS(0))}
	for i := range p.loops {
		p.loops[i].every = len(p.loops)
	}
	return p
}

// Run implements Poller. A loop that gets no epoll instance ends at once, and its connections keep their goroutines.
func (p *Epoll) Run(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-p.wanted:
	}
	var running sync.WaitGroup
	for i := range p.loops {
		running.Go(func() { p.loops[i].run(ctx) })
	}
	running.Wait()
}

// loopOf returns the loop that watches the file descriptor.
func (p *Epoll) loopOf(fd int) *loop { return &p.loops[fd%len(p.loops)] }

// Watch implements Poller. If data has arrived before the call, the poller reports it, too.
func (p *Epoll) Watch(c Conn) (watched bool) {
	raw, fd := c.Descriptor()
	// Control prevents that the file descriptor is closed and reused during the call.
	err := raw.Control(func(uintptr) { watched = p.loopOf(fd).add(c, fd) })
	if !watched {
		select {
		case p.wanted <- struct{}{}:
		default:
		}
	}
	return watched && err == nil
}

// Forget implements Poller.
func (p *Epoll) Forget(c Conn) {
	_, fd := c.Descriptor()
	p.loopOf(fd).remove(c, fd)
}

func (l *loop) run(ctx context.Context) {
	epoll, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return
	}
	_ = syscall.SetNonblock(epoll, true) // makes os.NewFile register it with the runtime's poller
	file := os.NewFile(uintptr(epoll), "epoll")
	raw, _ := file.SyscallConn() // fails only for a nil file
	l.read = l.readOnce
	l.turnOn(epoll)
	defer l.release()
	defer context.AfterFunc(ctx, func() {
		l.turnOff()
		_ = file.Close() // ends the wait
	})()
	for {
		n := 0
		if raw.Read(func(fd uintptr) bool { n = l.wait(fd); return n > 0 }) != nil {
			return
		}
		for _, event := range l.events[:n] {
			if c := l.connOf(int(event.Fd)); c != nil && c.Claim() {
				l.serve(c, event.Events)
			}
		}
		l.flush()
		runtime.Gosched() // lets other goroutines run, which answer the messages just handled
	}
}

// wait takes the events that have arrived, and returns their number. It does not block: if the number is 0, raw.Read of run
// blocks in the runtime's poller, and then calls wait again.
func (l *loop) wait(epoll uintptr) int {
	for {
		n, err := syscall.EpollWait(int(epoll), l.events[:], 0)
		if !errors.Is(err, syscall.EINTR) {
			return n
		}
	}
}

// serve reads the data that has arrived for a claimed connection, and handles it.
func (l *loop) serve(c Conn, reported uint32) {
	if reported != syscall.EPOLLIN {
		c.StartReader()
		return
	}
	l.n, l.err = 0, nil
	raw, _ := c.Descriptor()
	_ = raw.Control(l.read)
	switch {
	case errors.Is(l.err, syscall.EAGAIN): // an earlier reader has read the data
		if !c.Park() {
			c.StartReader()
		}
	case l.n == 0: // a read error or the end of the stream
		c.StartReader()
	default:
		flush, needsGoroutine := c.TryHandle(l.buffer[:l.n], l.n < len(l.buffer))
		if flush {
			l.replied = append(l.replied, c)
		}
		if needsGoroutine != nil {
			go needsGoroutine()
		}
	}
}

// flush writes the replies of all connections that were served in this round. A client process with several of these
// connections, such as a proxy, is then woken once for several replies.
func (l *loop) flush() {
	for _, c := range l.replied {
		c.Flush()
	}
	clear(l.replied)
	l.replied = l.replied[:0]
}

func (l *loop) readOnce(fd uintptr) { l.n, l.err = tryRead(fd, l.buffer[:]) }

func (l *loop) turnOn(epoll int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.on, l.epoll, l.conns = true, epoll, nil
}

func (l *loop) turnOff() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.on = false
}

// release starts a reader goroutine for each parked connection, because this loop stops watching them.
func (l *loop) release() {
	l.mu.Lock()
	conns := l.conns
	l.on, l.conns = false, nil
	l.mu.Unlock()
	for _, c := range conns {
		if c != nil && c.Claim() {
			c.StartReader()
		}
	}
}

func (l *loop) add(c Conn, fd int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.on || c.Closing() { // a closing connection may have been removed already, and would never be removed again
		return false
	}
	for fd/l.every >= len(l.conns) {
		l.conns = append(l.conns, nil)
	}
	l.conns[fd/l.every] = c
	event := syscall.EpollEvent{Events: events, Fd: int32(fd)}
	err := syscall.EpollCtl(l.epoll, syscall.EPOLL_CTL_MOD, fd, &event)
	if errors.Is(err, syscall.ENOENT) {
		err = syscall.EpollCtl(l.epoll, syscall.EPOLL_CTL_ADD, fd, &event)
	}
	return err == nil
}

// connOf returns the watched connection with the file descriptor. If the number was reused after the event, that is a
// different connection. Reading from that one is harmless: at worst there is no data.
func (l *loop) connOf(fd int) Conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := fd / l.every; i < len(l.conns) {
		return l.conns[i]
	}
	return nil
}

func (l *loop) remove(c Conn, fd int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := fd / l.every; i < len(l.conns) && l.conns[i] == c {
		l.conns[i] = nil
	}
}

// tryRead reads the data that the socket has received, without blocking. The error is a syscall.Errno; syscall.EAGAIN
// means that there is no data.
func tryRead(fd uintptr, b []byte) (n int, err error) {
	for {
		if n, err = syscall.Read(int(fd), b); err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}

// TryWrite writes as much of b as the socket accepts without blocking, and returns the number of bytes written.
func TryWrite(fd uintptr, b []byte) (n int) {
	n, _ = syscall.Write(int(fd), b) // an error is ignored: the caller's next Write returns it, too
	return max(n, 0)
}
