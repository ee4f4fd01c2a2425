package load

import (
	"fmt"
	"time"
)

// Part is what one part of the installation has used in the window.
type Part struct {
	Name     string  `json:"name"`
	Cores    float64 `json:"cores"`    // 1: one processor all the time
	Micros   float64 `json:"micros"`   // of processor time for one of the load's operations
	Resident int64   `json:"resident"` // bytes at the end; of Postgres without its backends
	Grown    int64   `json:"grown"`    // bytes, since before the users came
	byOthers bool    // on this machine, by nobody we know
}

// meter reads what the parts use.
type meter struct {
	processes []Process
	resident  []int64 // before the users came

	began   time.Time
	worked  []time.Duration // until then
	machine time.Duration
}

func newMeter(processes []Process) *meter {
	m := &meter{processes: append([]Process{generator()}, processes...)}
	for _, p := range m.processes {
		m.resident = append(m.resident, p.Resident())
	}
	return m
}

// begin of the window.
func (m *meter) begin() {
	all := allStats()
	m.worked = nil
	for _, p := range m.processes {
		m.worked = append(m.worked, p.worked(all))
	}
	m.machine, _ = machine()
	m.began = time.Now()
}

// end of the window: what was used in it. Nothing is known where there is no /proc.
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

// nearly is how much of what there is counts as all of it.
const nearly = 0.9

// bottleneck names what holds the rest up.
func bottleneck(parts []Part, cores int) string {
	if len(parts) == 0 {
		return "unknown: there is no /proc here"
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
		return fmt.Sprintf("none of ours: others take %.2f of this machine's %d cores", most.Cores, cores)
	case busy >= nearly*float64(cores):
		return fmt.Sprintf("this machine: its %d cores are busy, %s takes most (%.2f)", cores, most.Name, most.Cores)
	case isRedis(most.Name) && most.Cores >= nearly:
		return fmt.Sprintf("%s: its one thread is busy (%.2f cores)", most.Name, most.Cores)
	}
	return fmt.Sprintf("none: %.2f of %d cores are busy, %s takes most (%.2f); waiting (disk, schedule) is the rest", busy, cores, most.Name, most.Cores)
}

func isRedis(name string) bool { return name == "redis" }
