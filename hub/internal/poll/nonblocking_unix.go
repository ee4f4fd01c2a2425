//go:build unix

package poll

import "syscall"

// TryWrite writes as much of b as the socket accepts without blocking, and returns the number of bytes written.
func TryWrite(fd uintptr, b []byte) (n int) {
	n, _ = syscall.Write(int(fd), b) // an error is ignored: the caller's next Write returns it, too
	return max(n, 0)
}
