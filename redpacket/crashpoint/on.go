//go:build crashpoints

package crashpoint

import (
	"os"
	"sync/atomic"
	"syscall"
)

var (
	crashAt = os.Getenv("HONGBAO_CRASH_AT")
	loseAt  = os.Getenv("HONGBAO_LOSE_AT")
	lost    atomic.Bool
)

// Here kills the process with SIGKILL if HONGBAO_CRASH_AT names this point.
func Here(point string) {
	if point == crashAt {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // blocks until the signal arrives
	}
}

// Lost returns true once, if HONGBAO_LOSE_AT names this point. The caller then abandons its work as if its goroutine
// had died, and recovery has to complete that work.
func Lost(point string) bool {
	return point == loseAt && lost.CompareAndSwap(false, true)
}

// Variables returns the names of the environment variables that a test build reads.
func Variables() []string { return []string{"HONGBAO_CRASH_AT", "HONGBAO_LOSE_AT"} }
