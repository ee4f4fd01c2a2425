package load

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Process is a part of the installation on this machine, with all its child processes. The generator of the load is also one.
type Process struct {
	Name string
	PID  int
	own  bool // true: this process, whose children are counted as other parts
}

// generator returns the part that generates the load: this process.
func generator() Process { return Process{Name: "generator", PID: os.Getpid(), own: true} }

// tick is the unit of times in /proc. Linux uses this unit there whatever the tick of its own clock is.
const tick = time.Second / 100

// stat is what /proc shows of one process.
type stat struct {
	parent   int
	worked   time.Duration // CPU time of the process itself
	children time.Duration // CPU time of the child processes of this process that have ended
}

var errNoProc = errors.New("unknown format of /proc")

func readStat(pid int) (s stat, err error) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return s, err
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])) // after the program's name
	if len(fields) < 15 {
		return s, errNoProc
	}
	var numbers [5]int64
	for i, field := range []int{1, 11, 12, 13, 14} { // parent; own time in user mode and in the kernel; the same of its ended children
		if numbers[i], err = strconv.ParseInt(fields[field], 10, 64); err != nil {
			return s, err
		}
	}
	return stat{
		parent: int(numbers[0]), worked: time.Duration(numbers[1]+numbers[2]) * tick, children: time.Duration(numbers[3]+numbers[4]) * tick,
	}, nil
}

// allStats returns all processes by id; processes that end meanwhile are left out.
func allStats() map[int]stat {
	names, _ := filepath.Glob("/proc/[0-9]*") // fails for a malformed pattern only
	all := map[int]stat{}
	for _, name := range names {
		pid, err := strconv.Atoi(filepath.Base(name))
		if err != nil {
			continue
		}
		if s, err := readStat(pid); err == nil {
			all[pid] = s
		}
	}
	return all
}

// worked returns the CPU time of the process and all its descendants; of the generator without its descendants.
func (p Process) worked(all map[int]stat) time.Duration {
	if p.own {
		return all[p.PID].worked
	}
	sum := all[p.PID].worked + all[p.PID].children
	for pid, s := range all {
		if s.parent == p.PID {
			sum += Process{PID: pid}.worked(all)
		}
	}
	return sum
}

// Worked returns the CPU time of the process and all its descendants so far.
func (p Process) Worked() time.Duration { return p.worked(allStats()) }

// Resident returns the memory of the process itself in bytes; 0: unknown.
func (p Process) Resident() int64 {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.PID), "status"))
	if err != nil {
		return 0
	}
	return kilobytes(string(text), "VmRSS:") << 10
}

// kilobytes returns the number in the line that begins with name, such as "VmRSS:    123 kB"; 0 if there is none.
func kilobytes(text, name string) int64 {
	for message := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(message, name); ok {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64) // 0: unknown
			return n
		}
	}
	return 0
}

// machine returns the CPU time that all cores have used since the start of the machine, without idle time. known is false if
// the system does not tell.
func machine() (worked time.Duration, known bool) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, false
	}
	first, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(first)
	if len(fields) < 9 || fields[0] != "cpu" {
		return 0, false
	}
	for i, field := range fields[1:9] { // user nice system idle iowait irq softirq steal
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, false
		}
		if i != 3 && i != 4 {
			worked += time.Duration(ticks) * tick
		}
	}
	return worked, true
}
