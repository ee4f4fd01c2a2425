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

	"hongbao/store/enginetest"
)

// The simulator runs random schedules of a packet's life. It runs the real flow over simulated engines, and interrupts
// it at every step (simulator_world_test.go) with the faults of a class (simulator_plan_test.go). At the end it counts
// the harm that was done (simulator_verdicts_test.go).
//
// Its limits: SQL loses no commit, all masters share one clock, an image outlives the schedule, a packet has at most
// six shares, and random schedules do not cover everything.
//
//	go test ./redpacket -run TestSimulator -v                                    the tables
//	go test ./redpacket -run TestSimulator$ -v -sim.seed=7 -sim.class=crashes    one schedule, step by step
var (
	simSchedules = flag.Int("sim.schedules", 0, "schedules of TestSimulator, over all classes; 0: 200,000, or 3,000 with -race or -short")
	simSeed      = flag.Int("sim.seed", 0, "play only this schedule, and print it")
	simOnly      = flag.String("sim.class", "", "play only this class")
	simWithout   = flag.String("sim.without", "", "play a single schedule without this rule of TestSimulatorMutants")
)

// TestSimulator runs schedules of every class of faults. In all of them no money may be made or lost, and no answer
// may be false. As long as the Pool keeps what it has granted, no user may be disappointed either.
func TestSimulator(t *testing.T) {
	classes := simClasses()
	if *simOnly != "" {
		classes = []simClass{simClassNamed(t, *simOnly)}
	}
	if *simSeed != 0 {
		simReplay(t, *simSeed, classes[len(classes)-1])
		return
	}
	schedules := (simScheduleCount() + len(classes) - 1) / len(classes)
	t.Logf("%-10s %9s | %s | %s | time", "class", "schedules", simNames(simFigureCount), simNames(simSightCount))
	for _, class := range classes {
		begun := time.Now()
		r := simulate(class, 0, 0, schedules)
		t.Logf("%-10s %9d | %s | %s | %.1fs", class.name, schedules,
			simCells[simFigure](r.total[:]), simCells[simSight](r.seen[:]), time.Since(begun).Seconds())
		for f := range simFigureCount {
			if (f.always() || class.strict) && r.total[f] > 0 {
				t.Errorf("%s: %s is %d; its shortest schedule:", class.name, f, r.total[f])
				simReplay(t, r.worst[f].seed, class)
			}
		}
		for s := range simSightCount {
			if r.seen[s] == 0 && (s != simSawHeld || class.holds) && (s < simSawElsewhere || s > simSawUnbound || class.persons) && (s < simSawEntered || class.rains) &&
				(s != simSawConflict || class.losses) && (s != simSawUnavailable || class.outages) &&
				(s != simSawUnsettled && s != simSawQuarantined || class.poison) {
				t.Errorf("%s: %s never happens: the schedules prove nothing", class.name, s)
			}
		}
	}
}

func simScheduleCount() int {
	switch {
	case *simSchedules > 0:
		return *simSchedules
	case enginetest.RaceDetector() || testing.Short():
		return 3_000
	}
	return 200_000
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

// simColumn is the type of a table's columns: figures or sights.
type simColumn interface {
	~int
	fmt.Stringer
}

func simNames[C simColumn](upTo C) string {
	names := make([]string, upTo)
	for c := range upTo {
		names[c] = c.String()
	}
	return strings.Join(names, " ")
}

func simCells[C simColumn](figures []int) string {
	cells := make([]string, len(figures))
	for i, n := range figures {
		cells[i] = fmt.Sprintf("%*d", len(C(i).String()), n)
	}
	return strings.Join(cells, " ")
}

// simResult is the sum of the results of many schedules.
type simResult struct {
	total simCounts
	seen  simSights
	worst [simFigureCount]simSample
}

// simSample names the shortest schedule that has shown a kind of harm.
type simSample struct{ seed, steps int }

func (s *simSample) better(o simSample) {
	if o.seed != 0 && (s.seed == 0 || o.steps < s.steps || o.steps == s.steps && o.seed < s.seed) {
		*s = o
	}
}

func (r *simResult) add(w *simWorld, seed int) {
	for s, n := range w.seen {
		r.seen[s] += n
	}
	for f, n := range w.count {
		r.total[f] += n
		if n > 0 {
			r.worst[f].better(simSample{seed, w.step})
		}
	}
}

func (r *simResult) merge(o *simResult) {
	for s, n := range o.seen {
		r.seen[s] += n
	}
	for f, n := range o.total {
		r.total[f] += n
		r.worst[f].better(o.worst[f])
	}
}

// simulate runs the schedules whose seeds follow after, on all processors. The result depends only on the arguments.
func simulate(class simClass, mutant simMutant, after, schedules int) simResult {
	var (
		sum     simResult
		next    atomic.Int64
		mu      sync.Mutex
		workers sync.WaitGroup
	)
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			w, own := newSimWorld(), simResult{}
			defer w.stop()
			for n := int(next.Add(1)); n <= schedules; n = int(next.Add(1)) {
				w.begin(after+n, class, mutant)
				w.run()
				own.add(w, after+n)
			}
			mu.Lock()
			defer mu.Unlock()
			sum.merge(&own)
		})
	}
	workers.Wait()
	return sum
}

// simReplay runs one schedule and prints each of its steps.
func simReplay(t *testing.T, seed int, class simClass) {
	t.Helper()
	var mutant simMutant
	if *simWithout != "" {
		r := simRuleNamed(t, *simWithout)
		mutant = r.mutant | r.beside
	}
	w := newSimWorld()
	defer w.stop()
	w.trace = &strings.Builder{}
	w.begin(seed, class, mutant)
	w.run()
	t.Logf("-sim.seed=%d -sim.class=%s -sim.without=%q\n%s%s\n%s", seed, class.name, *simWithout, w.trace,
		simNames(simFigureCount), simCells[simFigure](w.count[:]))
}
