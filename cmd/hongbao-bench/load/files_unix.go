//go:build unix

package load

import "syscall"

// openFiles returns how many files this process may have open.
func openFiles() (limit uint64, known bool) {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil {
		return 0, false
	}
	return uint64(l.Cur), true //nolint:unconvert // the type is signed on some systems
}
