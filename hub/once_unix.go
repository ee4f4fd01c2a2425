//go:build unix && !linux

package hub

import "syscall"

// writeOnce gives the socket as much as it takes at once, and tells how much that is.
func writeOnce(fd uintptr, b []byte) (n int) {
	n, _ = syscall.Write(int(fd), b) // an error comes again with what is left
	return max(n, 0)
}
