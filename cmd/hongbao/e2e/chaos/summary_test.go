package chaos

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
)

// summary counts the faults of a run.
type summary struct {
	out   io.Writer
	began time.Time
	seed  uint64 // of the next fault

	worlds, faults, violations, bad int
	answers, histories, undecided   int
	kinds                           map[string]int  // number of faults by kind
	left                            map[string]bool // kinds that were left out, with the reasons
	slowest                         time.Duration
	usage                           usage // the most of any instance after a fault
}

func (s *summary) say(format string, args ...any) { _, _ = fmt.Fprintf(s.out, format+"\n", args...) }

// add prints a fault and counts it.
func (s *summary) add(f *fault) {
	s.seed = next(f.seed)
	s.say("%s", f.line())
	s.faults++
	s.violations += len(f.wrong)
	if len(f.wrong) > 0 {
		s.bad++
	}
	s.answers, s.histories, s.undecided = s.answers+f.answers, s.histories+f.histories, s.undecided+f.undecided
	s.slowest = max(s.slowest, f.took)
	s.usage = usage{max(s.usage.goroutines, f.usage.goroutines), max(s.usage.heap, f.usage.heap)}
	for _, k := range f.kinds {
		s.kinds[k.name]++
	}
}

func (s *summary) print(interrupted bool) {
	how := ""
	if interrupted {
		how = ", interrupted"
	}
	s.say("\n%d faults in %d worlds in %v%s: %d violations in %d faults", s.faults, s.worlds, time.Since(s.began).Round(time.Second), how, s.violations, s.bad)
	s.say("%d acknowledged requests, %d histories of packets (%d not decided in time), longest fault with its checks %v",
		s.answers, s.histories, s.undecided, s.slowest.Round(100*time.Millisecond))
	s.say("after a fault an instance had at most %.0f goroutines and %.1f MiB in use", s.usage.goroutines, s.usage.heap/(1<<20))
	for _, name := range slices.Sorted(maps.Keys(s.kinds)) {
		s.say("%5d  %s", s.kinds[name], name)
	}
	s.say("continue with SEED=%d", s.seed)
}
