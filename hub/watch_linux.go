package hub

import (
	"context"
	"errors"
	"os"
	"sync"
	"syscall"
)

// watch starts readers for the parked connections that have something to read. It is an epoll of its own, which the
// runtime's watches in turn: so it takes no thread.
type watch struct {
	wanted chan struct{} // one slot, never closed: somebody would park

	mu    sync.Mutex // guards the following
	on    bool
	epoll int
	conns []*Conn // by file descriptor: who parked last with it; nil: nobody, or his socket is closed
}

// watchedEvents is how many are taken at a time.
const watchedEvents = 128

func (w *watch) init() { w.wanted = make(chan struct{}, 1) }

// run does so until ctx is done, once somebody would park. Without an epoll nobody does.
func (w *watch) run(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-w.wanted:
	}
	epoll, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return
	}
	_ = syscall.SetNonblock(epoll, true) // tells os.NewFile that it can be waited for
	file := os.NewFile(uintptr(epoll), "epoll")
	raw, _ := file.SyscallConn() // it fails for none at all
	w.turn(true, epoll)
	end := func() {
		w.end()
		_ = file.Close() // which ends the wait
	}
	defer end()
	defer context.AfterFunc(ctx, end)()
	events := make([]syscall.EpollEvent, watchedEvents)
	for {
		n := 0
		err := raw.Read(func(fd uintptr) bool {
			var failed error
			for n, failed = syscall.EpollWait(int(fd), events, 0); errors.Is(failed, syscall.EINTR); {
				n, failed = syscall.EpollWait(int(fd), events, 0)
			}
			return n > 0 // else the runtime waits for more
		})
		if err != nil {
			return
		}
		for _, e := range events[:n] {
			if c := w.take(int(e.Fd)); c != nil && c.unpark() {
				go c.read()
			}
		}
	}
}

// end gives those readers again who are watched, for nobody will.
func (w *watch) end() {
	for _, c := range w.turn(false, 0) {
		if c != nil && c.unpark() {
			go c.read()
		}
	}
}

// turn gives those who were watched before.
func (w *watch) turn(on bool, epoll int) (parked []*Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	parked, w.on, w.epoll, w.conns = w.conns, on, epoll, nil
	return parked
}

// add watches for one thing to read, or the end; false: nobody will.
func (w *watch) add(c *Conn) (added bool) {
	err := c.raw.Control(func(fd uintptr) { added = w.enter(c, int(fd)) })
	return added && err == nil
}

func (w *watch) enter(c *Conn, fd int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.on {
		select {
		case w.wanted <- struct{}{}:
		default:
		}
		return false
	}
	if c.isClosing() { // its last reader may have been here before, and nobody would forget it
		return false
	}
	for fd >= len(w.conns) {
		w.conns = append(w.conns, nil)
	}
	w.conns[fd], c.fd = c, int32(fd)
	event := syscall.EpollEvent{Events: syscall.EPOLLIN | syscall.EPOLLRDHUP | syscall.EPOLLONESHOT, Fd: c.fd}
	err := syscall.EpollCtl(w.epoll, syscall.EPOLL_CTL_MOD, fd, &event)
	if errors.Is(err, syscall.ENOENT) {
		err = syscall.EpollCtl(w.epoll, syscall.EPOLL_CTL_ADD, fd, &event)
	}
	return err == nil
}

// take gives who is parked with the file descriptor. It may be somebody new, whose reader will only wait.
func (w *watch) take(fd int) (c *Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if fd < len(w.conns) {
		c, w.conns[fd] = w.conns[fd], nil
	}
	return c
}

// forget is for a connection that parks no more.
func (w *watch) forget(c *Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if fd := int(c.fd); fd < len(w.conns) && w.conns[fd] == c {
		w.conns[fd] = nil
	}
}
