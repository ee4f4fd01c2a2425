package hub

import (
	"syscall"
	"unsafe"
)

// The calls that a socket answers at once are made without a word to the runtime's scheduler. It would believe that they wait, and
// on a busy machine hand the processor of whoever makes them to another thread, which is a twentieth of a short answer's cost.

// writeOnce gives the socket as much as it takes at once, and tells how much that is.
func writeOnce(fd uintptr, b []byte) (n int) {
	n, _ = once(syscall.SYS_WRITE, fd, b) // an error comes again with what is left
	return n
}

// readOnce takes what the socket has.
func readOnce(fd uintptr, b []byte) (n int, err error) {
	for {
		if n, err = once(syscall.SYS_READ, fd, b); err != syscall.EINTR { //nolint:errorlint // it is as it came
			return n, err
		}
	}
}

func once(call, fd uintptr, b []byte) (n int, err error) {
	at := unsafe.Pointer(unsafe.SliceData(b)) //nolint:gosec // as syscall.Write has it
	done, _, failed := syscall.RawSyscall(call, fd, uintptr(at), uintptr(len(b)))
	if failed != 0 {
		return 0, failed
	}
	return int(done), nil
}
