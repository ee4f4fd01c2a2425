package load

import (
	"fmt"
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
