package poll

import (
	"syscall"
	"unsafe"
)

// These calls bypass the runtime's scheduler, because a non-blocking socket answers at once. The scheduler would assume
// that they wait. On a busy machine it would hand the caller's processor to another thread, which costs a twentieth of a
// short reply.

// TryWrite writes as much of b as the socket accepts without blocking, and returns the number of bytes written.
func TryWrite(fd uintptr, b []byte) (n int) {
	n, _ = rawCall(syscall.SYS_WRITE, fd, b) // an error is ignored: the caller's next Write returns it, too
	return n
}

// tryRead reads the data that the socket has received, without blocking. The error is a syscall.Errno; syscall.EAGAIN
// means that there is no data.
func tryRead(fd uintptr, b []byte) (n int, err error) {
	for {
		if n, err = rawCall(syscall.SYS_READ, fd, b); err != syscall.EINTR { //nolint:errorlint // the error is never wrapped
			return n, err
		}
	}
}

func rawCall(call, fd uintptr, b []byte) (n int, err error) {
	start := unsafe.Pointer(unsafe.SliceData(b)) //nolint:gosec // as syscall.Write does it
	done, _, errno := syscall.RawSyscall(call, fd, uintptr(start), uintptr(len(b)))
	if errno != 0 {
		return 0, errno
	}
	return int(done), nil
}
