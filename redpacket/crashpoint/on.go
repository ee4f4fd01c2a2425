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

// Here kills the process, as kill -9 would, if the environment names this point.
func Here(point string) {
	if point == crashAt {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // the signal is on its way
	}
}

// Lost is true once, at the point that the environment names: the caller then gives up as if its worker had
// died, and leaves the rest to recovery.
func Lost(point string) bool {
	return point == loseAt && lost.CompareAndSwap(false, true)
}

// Variables are those of the environment that this build listens to.
func Variables() []string { return []string{"HONGBAO_CRASH_AT", "HONGBAO_LOSE_AT"} }
