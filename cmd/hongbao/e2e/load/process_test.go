package load

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"hongbao/cmd/hongbao/e2e"
)

// residentMemory returns the server's resident memory in bytes, after garbage collections that return free pages to the system:
// the least value that is read until it no longer shrinks.
func residentMemory(t *testing.T, s *e2e.Server) int64 {
	t.Helper()
	least := int64(1) << 62
	for unchanged := 0; unchanged < 3; unchanged++ {
		if status, text := s.OpsPage("debug/pprof/heap?gc=1"); status != http.StatusOK {
			t.Fatalf("heap profile: status %d: %s", status, text)
		}
		now := readResident(t, s)
		if now < least-least/200 {
			unchanged = 0
		}
		least = min(least, now)
		time.Sleep(time.Second) // the runtime returns pages in the background
	}
	return least
}

func readResident(t *testing.T, s *e2e.Server) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.PID()))
	e2e.NoError(t, err)
	for line := range strings.Lines(string(status)) {
		if kilobytes, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			size, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(kilobytes), " kB"), 10, 64)
			e2e.NoError(t, err)
			return size << 10
		}
	}
	t.Fatalf("/proc/%d/status has no VmRSS", s.PID())
	return 0
}

// serverCPU returns the CPU time that the server has used, of all cores together.
func serverCPU(t *testing.T, s *e2e.Server) (used time.Duration) {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.PID()))
	e2e.NoError(t, err)
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')'):])) // after the program's name
	for _, field := range fields[12:14] {                                   // user time and system time
		ticks, err := strconv.ParseInt(field, 10, 64)
		e2e.NoError(t, err)
		used += time.Duration(ticks) * time.Second / 100
	}
	return used
}

// ownCPU returns the CPU time that this process has used.
func ownCPU(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	e2e.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()).Round(time.Millisecond)
}
