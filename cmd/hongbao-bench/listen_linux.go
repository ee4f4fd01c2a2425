package main

import (
	"errors"
	"net"
	"syscall"
)

// receive reads from all clients on one goroutine, without Go's network poller. So receiving takes less CPU time than
// sending.
func (e *messageCounter) receive(conns []net.Conn) error {
	poll, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return err
	}
	sockets := make([]int, len(conns))
	for i, conn := range conns {
		if sockets[i], err = again(conn); err != nil {
			return err
		}
		event := syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(i)} // index of the client
		if err := syscall.EpollCtl(poll, syscall.EPOLL_CTL_ADD, sockets[i], &event); err != nil {
			return err
		}
	}
	go e.poll(poll, sockets)
	return nil
}

// again duplicates the socket. Go's network poller does not know the copy.
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

// idlePolls is the number of polls without a result after which the goroutine blocks. A blocked goroutine must be
// woken, which costs the sender time.
const idlePolls = 2000

// poll reads from the sockets until the process ends.
func (e *messageCounter) poll(poll int, sockets []int) {
	events := make([]syscall.EpollEvent, 256)
	buffer := make([]byte, 64<<10)
	for vain := 0; ; vain++ {
		timeout := 0
		if vain > idlePolls {
			timeout = -1
		}
		came, err := syscall.EpollWait(poll, events, timeout)
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return
		}
		for _, event := range events[:max(came, 0)] {
			vain = 0
			socket := sockets[event.Fd]
			if n, _ := syscall.Read(socket, buffer); n > 0 {
				e.take(int(event.Fd), buffer[:n])
			} else {
				_ = syscall.Close(socket) // the other end has closed the socket; closing this end also removes it from the poll
			}
		}
	}
}
