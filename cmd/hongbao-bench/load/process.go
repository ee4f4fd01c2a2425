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

// Process is a part of the installation that runs on this machine. Its children are counted with it.
type Process struct {
	Name string
	PID  int
	own  bool // this one: its children are others' parts
}

// generator is what we call ourselves.
func generator() Process { return Process{Name: "generator", PID: os.Getpid(), own: true} }

// tick is the unit of the times in /proc: Linux shows it so whatever its own is.
const tick = time.Second / 100

// stat is what /proc says of a process.
type stat struct {
	parent   int
	worked   time.Duration // by itself
	children time.Duration // by those of its children that have ended
}

var errNoProc = errors.New("no /proc of that kind")

func readStat(pid int) (s stat, err error) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return s, err
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])) // behind the program's name
	if len(fields) < 15 {
		return s, errNoProc
	}
	var numbers [5]int64
	for i, field := range []int{1, 11, 12, 13, 14} { // parent; in its own code and in the kernel; the same of its children
		if numbers[i], err = strconv.ParseInt(fields[field], 10, 64); err != nil {
			return s, err
		}
	}
	return stat{
		parent: int(numbers[0]), worked: time.Duration(numbers[1]+numbers[2]) * tick, children: time.Duration(numbers[3]+numbers[4]) * tick,
	}, nil
}

// all processes by id; those that end meanwhile are left out.
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

// worked is how long the process and all below it have worked so far.
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

// Worked is how long the process and all below it have worked so far.
func (p Process) Worked() time.Duration { return p.worked(allStats()) }

// Resident is the memory of the process itself, in bytes; 0: unknown.
func (p Process) Resident() int64 {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.PID), "status"))
	if err != nil {
		return 0
	}
	return kilobytes(string(text), "VmRSS:") << 10
}

// kilobytes finds a line such as "VmRSS:    123 kB".
func kilobytes(text, name string) int64 {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, name); ok {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64) // 0: unknown
			return n
		}
	}
	return 0
}

// machine is how long all processors together have worked so far; false: unknown.
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
