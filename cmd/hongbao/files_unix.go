//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

import (
	"math"
	"syscall"
)

// openFiles returns how many files the process may open. The Go runtime has already raised this limit as far as it can. 0 means
// that the limit is unknown.
func openFiles() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return int(min(uint64(limit.Cur), math.MaxInt32)) //nolint:unconvert // it is signed on FreeBSD
}
