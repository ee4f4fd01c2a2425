package main

import (
	"errors"
	"net"
	"syscall"
)

// hear reads what comes to all clients on one goroutine, past Go's own poller: so they take less time to hear than anybody
// to speak.
func (e *ears) hear(conns []net.Conn) error {
	poll, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return err
	}
	sockets := make([]int, len(conns))
	for i, conn := range conns {
		if sockets[i], err = again(conn); err != nil {
			return err
		}
		event := syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(i)} // whose it is
		if err := syscall.EpollCtl(poll, syscall.EPOLL_CTL_ADD, sockets[i], &event); err != nil {
			return err
		}
	}
	go e.poll(poll, sockets)
	return nil
}

// again opens the same socket again, so that Go's poller knows nothing of it.
func again(conn net.Conn) (socket int, err error) {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return 0, errors.New("no TCP")
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	err = raw.Control(func(fd uintptr) { socket, failed = syscall.Dup(int(fd)) })
	return socket, errors.Join(err, failed, conn.Close())
}

// looks is how often it is looked in vain whether anything has come before it is waited for. Who waits must be woken, and it
// is the sender whom that would cost time.
const looks = 2000

// poll reads whatever has come, until the process ends.
func (e *ears) poll(poll int, sockets []int) {
	events := make([]syscall.EpollEvent, 256)
	buffer := make([]byte, 64<<10)
	for vain := 0; ; vain++ {
		patience := 0
		if vain > looks {
			patience = -1
		}
		came, err := syscall.EpollWait(poll, events, patience)
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return
		}
		for _, event := range events[:max(came, 0)] {
			vain = 0
			socket := sockets[event.Fd]
			if n, _ := syscall.Read(socket, buffer); n > 0 {
				e.take(int(event.Fd), buffer[:n])
			} else {
				_ = syscall.Close(socket) // its peer is gone; and so it is not polled any more
			}
		}
	}
}
