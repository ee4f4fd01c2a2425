package load

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Part says how much CPU time and memory one program, such as Redis or an instance, has used in the measured window.
type Part struct {
	Name     string  `json:"name"`
	Cores    float64 `json:"cores"`    // 1: one core all the time
	Micros   float64 `json:"micros"`   // CPU time for one operation of the load
	Resident int64   `json:"resident"` // bytes at the end; of Postgres without its backends
	Grown    int64   `json:"grown"`    // bytes more than before the users connected
	byOthers bool    // true: not the installation, but other processes of this machine
}

// meter measures what the parts of the installation use.
type meter struct {
	processes []Process
	resident  []int64 // before the users connected

	began   time.Time
	worked  []time.Duration // CPU time at the start of the window
	machine time.Duration
}

func newMeter(processes []Process) *meter {
	m := &meter{processes: append([]Process{generator()}, processes...)}
	for _, p := range m.processes {
		m.resident = append(m.resident, p.Resident())
	}
	return m
}

// begin starts the window.
func (m *meter) begin() {
	all := allStats()
	m.worked = nil
	for _, p := range m.processes {
		m.worked = append(m.worked, p.worked(all))
	}
	m.machine, _ = machine()
	m.began = time.Now()
}

// end ends the window and returns what each part has used in it; nil if the system has no /proc.
func (m *meter) end() (parts []Part) {
	took := time.Since(m.began).Seconds()
	all := allStats()
	busy, known := machine()
	if !known {
		return nil
	}
	others := (busy - m.machine).Seconds() / took
	for i, p := range m.processes {
		rss := p.Resident()
		part := Part{Name: p.Name, Cores: (p.worked(all) - m.worked[i]).Seconds() / took, Resident: rss, Grown: rss - m.resident[i]}
		others -= part.Cores
		parts = append(parts, part)
	}
	return append(parts, Part{Name: "everything else here", Cores: max(others, 0), byOthers: true})
}

// nearly is the fraction of a capacity from which the capacity counts as used up.
const nearly = 0.9

// bottleneck says in words which part limits the load, or that none does.
func bottleneck(parts []Part, cores int) string {
	if len(parts) == 0 {
		return "unknown: this system has no /proc"
	}
	var busy float64
	most := parts[0]
	for _, p := range parts {
		busy += p.Cores
		if p.Cores > most.Cores {
			most = p
		}
	}
	switch {
	case most.byOthers && busy >= nearly*float64(cores):
		return fmt.Sprintf("other processes: they take %.2f of this machine's %d cores", most.Cores, cores)
	case busy >= nearly*float64(cores):
		return fmt.Sprintf("this machine: its %d cores are busy, %s takes most (%.2f)", cores, most.Name, most.Cores)
	case isRedis(most.Name) && most.Cores >= nearly:
		return fmt.Sprintf("%s: its one thread is busy (%.2f cores)", most.Name, most.Cores)
	}
	return fmt.Sprintf("none: %.2f of %d cores are busy, %s takes most (%.2f); waiting (disk, schedule) is the rest", busy, cores, most.Name, most.Cores)
}

func isRedis(name string) bool { return name == "redis" }

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

// Hardware describes the machine of a run.
type Hardware struct {
	Cores  int    `json:"cores"`
	CPU    string `json:"cpu"`
	Memory int64  `json:"memory"` // bytes
	System string `json:"system"`
	Go     string `json:"go"`
}

// ThisMachine returns the known facts about this machine.
func ThisMachine() Hardware {
	return Hardware{
		Cores: runtime.NumCPU(), CPU: cpuModel(), Memory: memory(), System: system(), Go: runtime.Version(),
	}
}

// String describes the machine in one line.
func (h Hardware) String() string {
	return fmt.Sprintf("%d cores of %s, %.0f GiB, %s, %s", h.Cores, h.CPU, float64(h.Memory)/(1<<30), h.System, h.Go)
}

// named returns the value of the first line of a file that begins with name; "unknown" if there is none.
func named(file, name, separator string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return "unknown"
	}
	for message := range strings.Lines(string(text)) {
		key, value, ok := strings.Cut(message, separator)
		if ok && strings.TrimSpace(key) == name {
			return strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return "unknown"
}

func cpuModel() string {
	if model := named("/proc/cpuinfo", "model name", ":"); model != "unknown" {
		return model
	}
	return runtime.GOARCH
}

func memory() int64 {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	return kilobytes(string(text), "MemTotal:") << 10
}

func system() string {
	kernel, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return runtime.GOOS
	}
	return named("/etc/os-release", "PRETTY_NAME", "=") + ", " + runtime.GOOS + " " + strings.TrimSpace(string(kernel))
}
