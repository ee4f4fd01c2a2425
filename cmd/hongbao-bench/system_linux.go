package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// attributes make the system kill a child process when this process dies. They also keep the terminal's Ctrl-C from the child:
// this process stops it.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}

// clockTick is the unit of the times in /proc, on every platform of Linux that Go supports.
const clockTick = 10 * time.Millisecond

// cpuTime returns the CPU time that the processes and their children have used so far, also children that have ended.
func cpuTime(pids ...int) (total time.Duration) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0
	}
	for _, file := range stats {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has just ended: its parent counts it
		}
		_, rest, _ := strings.Cut(string(text), ") ") // after the name of the program
		fields := strings.Fields(rest)
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil || len(fields) < 15 {
			continue
		}
		number := func(i int) int64 {
			n, _ := strconv.ParseInt(fields[i], 10, 64)
			return n
		}
		ticks := number(11) + number(12) // utime, stime
		switch {
		case slices.Contains(pids, pid):
			ticks += number(13) + number(14) // of children that have ended
		case !slices.Contains(pids, int(number(1))):
			continue
		}
		total += time.Duration(ticks) * clockTick
	}
	return total
}

// cpuTimeOfThreads returns the CPU time that the threads of one process have used so far, to the nanosecond. Threads that have
// ended are not counted; those of a Go program do not end.
func cpuTimeOfThreads(pid int) (total time.Duration) {
	stats, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/schedstat")
	if err != nil {
		return 0
	}
	for _, file := range stats {
		text, _ := os.ReadFile(file) // empty: it has just ended
		nanos, _, _ := strings.Cut(string(text), " ")
		n, _ := strconv.ParseInt(nanos, 10, 64)
		total += time.Duration(n)
	}
	return total
}
