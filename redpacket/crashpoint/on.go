//go:build crashpoints

package crashpoint

import (
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

var (
	crashAt = os.Getenv("HONGBAO_CRASH_AT")
	loseAt  = os.Getenv("HONGBAO_LOSE_AT")
	lost    atomic.Bool

	clockFile  = os.Getenv("HONGBAO_CLOCK_FILE")
	clockShift atomic.Int64 // the time.Duration in the file
	watchClock sync.Once
)

// Now returns the time, shifted by the duration (such as -7s) in the file that HONGBAO_CLOCK_FILE names.
func Now() time.Time {
	if clockFile == "" {
		return time.Now()
	}
	watchClock.Do(func() { readClockFile(); go followClockFile() })
	return time.Now().Add(time.Duration(clockShift.Load()))
}

// followClockFile reads the file every 20 ms, for ever.
func followClockFile() {
	for {
		time.Sleep(20 * time.Millisecond)
		readClockFile()
	}
}

func readClockFile() {
	text, err := os.ReadFile(clockFile)
	if shift, invalid := time.ParseDuration(strings.TrimSpace(string(text))); err == nil && invalid == nil {
		clockShift.Store(int64(shift))
	}
}

// Here kills the process with SIGKILL if HONGBAO_CRASH_AT names this step.
func Here(point string) {
	if point == crashAt {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // block until the signal arrives
	}
}

// Lost returns true once, if HONGBAO_LOSE_AT names this step. The caller then abandons its work as if its goroutine
// had died, and recovery has to complete that work.
func Lost(point string) bool {
	return point == loseAt && lost.CompareAndSwap(false, true)
}

// Variables returns the names of the environment variables that a test build reads.
func Variables() []string {
	return []string{"HONGBAO_CRASH_AT", "HONGBAO_LOSE_AT", "HONGBAO_CLOCK_FILE"}
}
