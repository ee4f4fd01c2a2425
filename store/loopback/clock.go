package loopback

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Clock is a clock that may be wrong, for the servers that it starts. A nil Clock is that of the machine.
type Clock struct {
	file    string // holds the shift
	library string // libfaketime
}

// NewClock returns a clock that shows the time of the machine. It needs libfaketime. The clock has a file in the folder.
// The servers read it, so their account must reach the folder.
func NewClock(dir string) (*Clock, error) {
	found, _ := filepath.Glob("/usr/lib/*/faketime/libfaketime.so.1") // fails only for a malformed pattern
	if len(found) == 0 {
		return nil, errors.New("libfaketime is not installed: apt-get install -y libfaketime")
	}
	c := &Clock{filepath.Join(dir, "clock"), found[0]}
	return c, c.Shift(0)
}

// Shift makes the clock differ from that of the machine. Each process of the servers notices it within about a second.
func (c *Clock) Shift(by time.Duration) error {
	next := c.file + ".next"
	if err := os.WriteFile(next, fmt.Appendf(nil, "%+f\n", by.Seconds()), 0o644); err != nil { //nolint:gosec // read as another user
		return err
	}
	return os.Rename(next, c.file)
}

// environment returns the variables that make a program use the clock. The allocator of Redis needs the time before libfaketime
// is ready. libc.so.6 is named so that its allocator is loaded before that of Redis. NO_FAKE_STAT is set because libfaketime
// would otherwise take locks that a killed process keeps.
func (c *Clock) environment() []string {
	if c == nil {
		return nil
	}
	return []string{
		"LD_PRELOAD=" + c.library + ":libc.so.6", "FAKETIME_TIMESTAMP_FILE=" + c.file, "FAKETIME_CACHE_DURATION=1",
		"FAKETIME_DONT_FAKE_MONOTONIC=1", "NO_FAKE_STAT=1",
	}
}

// clean removes what libfaketime leaves behind if a process was killed.
func (c *Clock) clean(pid int) {
	if c == nil {
		return
	}
	for _, name := range []string{"faketime_shm_", "sem.faketime_sem_"} {
		_ = os.Remove(fmt.Sprint("/dev/shm/", name, pid)) // it is not there if the process ended by itself
	}
}
