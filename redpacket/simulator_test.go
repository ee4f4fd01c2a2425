package redpacket

import (
	"flag"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var (
	simSchedules = flag.Int("sim.schedules", 0, "schedules over all classes of TestSimulator; 0: as many as the build can take")
	simSeed      = flag.Uint64("sim.seed", 0, "play this one schedule of -sim.class and print its trace; 0: play all")
	simClassFlag = flag.String("sim.class", "everything", "class of the schedule to play")
	simRules     = flag.Uint("sim.mutant", 0, "rules taken away from it, as a bit set")
)

// TestSimulator plays random schedules of a packet's life over the real flow and scripted engines, and counts
// who is harmed. Nobody ever loses or makes money, whatever fails; and as long as the Pool does not forget what
// it gave, nobody is disappointed either.
func TestSimulator(t *testing.T) {
	if *simSeed != 0 {
		simReplay(t, *simSeed, simClassNamed(t, *simClassFlag), simMutant(*simRules))
		return
	}
	classes := simClasses()
	each := simScheduleCount() / len(classes)
	t.Logf("%-10s %9s  %s  %s", "class", "schedules", strings.Join(simFigureNames(), " "), "time")
	for _, class := range classes {
		begun := time.Now()
		r := simulate(class, 0, each)
		t.Logf("%-10s %9d  %s  %.1fs", class.name, each, r.total.row(), time.Since(begun).Seconds())
		for f := range simFigureCount {
			if (f.always() || class.strict) && r.total[f] > 0 {
				t.Errorf("%s: %s is %d; the shortest such schedule:", class.name, f, r.total[f])
				simReplay(t, r.worst[f].seed, class, 0)
			}
		}
	}
}

func simClassNamed(t *testing.T, name string) simClass {
	t.Helper()
	for _, c := range simClasses() {
		if c.name == name {
			return c
		}
	}
	t.Fatalf("no class %q", name)
	return simClass{}
}

func simFigureNames() []string {
	names := make([]string, simFigureCount)
	for f := range simFigureCount {
		names[f] = f.String()
	}
	return names
}

func simScheduleCount() int {
	switch {
	case *simSchedules > 0:
		return *simSchedules
	case raceDetector || testing.Short():
		return 4_000
	}
	return 200_000
}

// simResult sums up many schedules.
type simResult struct {
	total simCounts
	worst [simFigureCount]struct { // the shortest schedule that has it
		seed  uint64
		steps int
	}
}

// row prints the figures below their names.
func (c simCounts) row() string {
	cells := simFigureNames()
	for f, name := range cells {
		cells[f] = fmt.Sprintf("%*d", len(name), c[f])
	}
	return strings.Join(cells, " ")
}

func (r *simResult) add(w *simWorld, seed uint64) {
	for f, n := range w.count {
		r.total[f] += n
		if n > 0 && (r.worst[f].seed == 0 || w.step < r.worst[f].steps) {
			r.worst[f].seed, r.worst[f].steps = seed, w.step
		}
	}
}

func (r *simResult) merge(o *simResult) {
	for f := range r.total {
		r.total[f] += o.total[f]
		if o.worst[f].seed != 0 && (r.worst[f].seed == 0 || o.worst[f].steps < r.worst[f].steps) {
			r.worst[f] = o.worst[f]
		}
	}
}

func simulate(class simClass, mutant simMutant, schedules int) simResult {
	const block = 100
	var (
		sum     simResult
		next    atomic.Int64
		mu      sync.Mutex
		workers sync.WaitGroup
	)
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			w, own := newSimWorld(), simResult{}
			for {
				upTo := int(next.Add(block))
				for seed := upTo - block + 1; seed <= min(upTo, schedules); seed++ {
					w.begin(uint64(seed), class, mutant)
					w.run()
					own.add(w, uint64(seed))
				}
				if upTo >= schedules {
					break
				}
			}
			mu.Lock()
			defer mu.Unlock()
			sum.merge(&own)
		})
	}
	workers.Wait()
	return sum
}

func simReplay(t *testing.T, seed uint64, class simClass, mutant simMutant) {
	t.Helper()
	w := newSimWorld()
	w.trace = &strings.Builder{}
	w.begin(seed, class, mutant)
	w.run()
	t.Logf("-sim.seed=%d -sim.class=%s -sim.mutant=%d\n%s%s\n%s",
		seed, class.name, mutant, w.trace, strings.Join(simFigureNames(), " "), w.count.row())
}
