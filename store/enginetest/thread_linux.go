package enginetest

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime returns the processor time that this thread has used.
func threadTime() time.Duration {
	var used unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Nano())
}
