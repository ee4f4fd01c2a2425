package hub

import (
	"context"
	"errors"
	"os"
	"runtime"
	"sync"
	"syscall"
)

// ears hear for the parked connections. There are as many as may run at a time.
type ears struct {
	wanted chan struct{} // one slot, never closed: somebody would park
	all    []ear         // static after init
}

// ear hears by an epoll of its own, which the runtime's watches in turn: so it takes no thread. That says each thing once. A socket
// is in it from when its connection has first parked; while there is a reader, what it says is ignored.
type ear struct {
	every int // file descriptors one is for this ear; static

	// owned by run
	events   [earEvents]syscall.EpollEvent
	buffer   [earBuffer]byte
	came     int     // how much of it was read last
	failed   error   // why not
	answered []*Conn // to be flushed
	try      *try
	read     func(fd uintptr) // e.readNow as a value: passing it on allocates nothing

	mu    sync.Mutex // guards the following
	on    bool
	epoll int
	conns []*Conn // by every so many file descriptors; nil: closed, or never parked
}

const (
	earEvents = 128     // are taken at a time
	earBuffer = 4 << 10 // what is longer is for a reader

	// heard is what makes an ear listen: data; the end and what is urgent, both for a reader, for behind them a read may leave
	// something; and each only once (syscall.EPOLLET, which has the wrong sign).
	heard = syscall.EPOLLIN | syscall.EPOLLRDHUP | syscall.EPOLLPRI | 1<<31
)

func (es *ears) init() {
	es.wanted = make(chan struct{}, 1)
	es.all = make([]ear, runtime.GOMAXPROCS(0))
	for i := range es.all {
		es.all[i].every = len(es.all)
	}
}

// run has them hear until ctx is done, once somebody would park. Without an epoll nobody does.
func (es *ears) run(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-es.wanted:
	}
	var all sync.WaitGroup
	for i := range es.all {
		all.Go(func() { es.all[i].run(ctx) })
	}
	all.Wait()
}

// of gives the one that hears for the connection.
func (es *ears) of(c *Conn) *ear { return &es.all[c.fd%len(es.all)] }

// add has an ear hear what is there, and what comes; false: none does.
func (es *ears) add(c *Conn) (added bool) {
	err := c.raw.Control(func(uintptr) { added = es.of(c).add(c) }) // so that it is not closed meanwhile
	if !added {
		select {
		case es.wanted <- struct{}{}:
		default:
		}
	}
	return added && err == nil
}

// forget is for a connection that parks no more.
func (es *ears) forget(c *Conn) { es.of(c).forget(c) }

func (e *ear) run(ctx context.Context) {
	epoll, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return
	}
	_ = syscall.SetNonblock(epoll, true) // tells os.NewFile that it can be waited for
	file := os.NewFile(uintptr(epoll), "epoll")
	raw, _ := file.SyscallConn() // it fails for none at all
	e.read, e.try = e.readNow, newTry()
	e.turnOn(epoll)
	defer e.giveBack()
	defer context.AfterFunc(ctx, func() {
		e.turnOff()
		_ = file.Close() // which ends the wait
	})()
	for {
		n := 0
		if raw.Read(func(fd uintptr) bool { n = e.wait(fd); return n > 0 }) != nil {
			return
		}
		for _, event := range e.events[:n] {
			if c := e.connOf(int(event.Fd)); c != nil && c.unpark() && (event.Events != syscall.EPOLLIN || !e.hear(c)) {
				go c.read()
			}
		}
		e.flush()
		runtime.Gosched() // for who is to answer what came
	}
}

// wait gives how many events there are. If there is none, the runtime waits for more.
func (e *ear) wait(epoll uintptr) int {
	for {
		n, err := syscall.EpollWait(int(epoll), e.events[:], 0)
		if !errors.Is(err, syscall.EINTR) {
			return n
		}
	}
}

// hear has handled what came; false: it takes a reader, who hears the end, too.
func (e *ear) hear(c *Conn) bool {
	e.came, e.failed = 0, nil
	_ = c.raw.Control(e.read)
	if errors.Is(e.failed, syscall.EAGAIN) { // its last reader has taken it
		return c.parkAgain()
	}
	if e.came == 0 {
		return false
	}
	flush, parked := c.hear(e.buffer[:e.came], e.came < len(e.buffer))
	if flush {
		e.answered = append(e.answered, c)
	}
	return parked
}

// flush sends what was answered at once, when all have been heard: who wakes up for an answer then finds more of them.
func (e *ear) flush() {
	for _, c := range e.answered {
		e.try.flush(c)
	}
	clear(e.answered)
	e.answered = e.answered[:0]
}

func (e *ear) readNow(fd uintptr) { e.came, e.failed = readOnce(fd, e.buffer[:]) }

func (e *ear) turnOn(epoll int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.on, e.epoll, e.conns = true, epoll, nil
}

func (e *ear) turnOff() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.on = false
}

// giveBack gives those readers who are parked, for nobody hears for them any more.
func (e *ear) giveBack() {
	e.mu.Lock()
	parked := e.conns
	e.on, e.conns = false, nil
	e.mu.Unlock()
	for _, c := range parked {
		if c != nil && c.unpark() {
			go c.read()
		}
	}
}

func (e *ear) add(c *Conn) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.on || c.isClosing() { // then its last reader may have been here before, and nobody would forget it
		return false
	}
	for c.fd/e.every >= len(e.conns) {
		e.conns = append(e.conns, nil)
	}
	e.conns[c.fd/e.every] = c
	event := syscall.EpollEvent{Events: heard, Fd: int32(c.fd)}
	err := syscall.EpollCtl(e.epoll, syscall.EPOLL_CTL_MOD, c.fd, &event)
	if errors.Is(err, syscall.ENOENT) {
		err = syscall.EpollCtl(e.epoll, syscall.EPOLL_CTL_ADD, c.fd, &event)
	}
	return err == nil
}

// connOf gives who has parked with the file descriptor. It may be somebody new, for whom nothing has come.
func (e *ear) connOf(fd int) *Conn {
	e.mu.Lock()
	defer e.mu.Unlock()
	if i := fd / e.every; i < len(e.conns) {
		return e.conns[i]
	}
	return nil
}

func (e *ear) forget(c *Conn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if i := c.fd / e.every; i < len(e.conns) && e.conns[i] == c {
		e.conns[i] = nil
	}
}
