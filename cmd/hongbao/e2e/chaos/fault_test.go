package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"
)

// fault is one or two kinds of faults at once, with the verdict on the world after it.
type fault struct {
	number int
	seed   uint64
	kinds  []kind

	took      time.Duration  // from the beginning of the fault to the end of all checks
	longest   time.Duration  // time of the longest check
	waited    string         // what that check waited for
	answers   int            // requests that were acknowledged
	lost      int            // of these, those that SQL has lost
	ends      map[string]int // packets by how they ended
	histories int            // packets whose histories were checked
	undecided int            // of these, those for which the checker ran out of time
	usage     usage          // the most that an instance needed in the end
	wrong     []string       // violations
}

// draw chooses the kinds of a fault by its seed: mostly one, sometimes two that break different parts.
func draw(seed uint64, able []kind) []kind {
	dice := rand.New(rand.NewPCG(seed, 1))
	drawn := []kind{able[dice.IntN(len(able))]}
	second := able[dice.IntN(len(able))]
	if dice.IntN(3) == 0 && second.part != drawn[0].part {
		drawn = append(drawn, second)
	}
	return drawn
}

// next returns the seed of the fault after the one of this seed (SplitMix64).
func next(seed uint64) uint64 {
	seed += 0x9e3779b97f4a7c15
	seed = (seed ^ seed>>30) * 0xbf58476d1ce4e5b9
	seed = (seed ^ seed>>27) * 0x94d049bb133111eb
	return seed ^ seed>>31
}

// run causes the fault while the users act, and checks the world after it.
func (f *fault) run(w *world) {
	began := time.Now()
	defer func() { f.took = time.Since(began) }()
	w.record.forget()
	w.mayDie = slices.ContainsFunc(f.kinds, func(k kind) bool { return k.part == processes })
	before := w.record.size()
	w.gate.open()
	lead := rand.New(rand.NewPCG(f.seed, 2))
	_ = pause(w.ctx, between(lead, 500*time.Millisecond, 2*time.Second))
	if err := f.cause(w); err != nil {
		f.wrong = append(f.wrong, "the fault could not be caused: "+err.Error())
	}
	_ = pause(w.ctx, between(lead, 200*time.Millisecond, 1500*time.Millisecond))
	w.gate.close()
	if w.ctx.Err() != nil {
		return
	}
	f.wrong = append(f.wrong, w.check(f)...)
	f.answers = w.record.size() - before + f.lost
	if w.ctx.Err() != nil {
		f.wrong = nil // the checks were interrupted
	}
}

// cause runs all kinds at once, each with dice of its own.
func (f *fault) cause(w *world) error {
	failed := make([]error, len(f.kinds))
	var all sync.WaitGroup
	for n, k := range f.kinds {
		all.Go(func() {
			if err := k.run(w.ctx, w, rand.New(rand.NewPCG(f.seed, 3+uint64(n)))); err != nil {
				failed[n] = fmt.Errorf("%s: %w", k.name, err)
			}
		})
	}
	all.Wait()
	err := errors.Join(failed...)
	if f.has(poisons) && f.has(loses) { // what SQL had before may be poisoned
		err = errors.Join(err, w.heal(w.ctx))
	}
	return err
}

func (f *fault) has(property func(kind) bool) bool { return slices.ContainsFunc(f.kinds, property) }

func forgets(k kind) bool { return k.forgets }
func moves(k kind) bool   { return k.moves }
func loses(k kind) bool   { return k.loses }
func steps(k kind) bool   { return k.steps }
func poisons(k kind) bool { return k.poisons }

// mayBeginEpoch reports whether a new epoch may begin: SQL has lost something, or another server has taken over and the notes that
// would show that nothing is missing are lost.
func (f *fault) mayBeginEpoch() bool { return f.has(loses) || f.has(moves) && f.has(forgets) }

// rules returns the rules of packets. If SQL has lost something, they are those of packets that were sent afterwards.
func (f *fault) rules() rules {
	r := rules{slack: 100 * time.Millisecond, lossy: f.has(poisons) || f.has(forgets), steps: f.has(steps)} // deadlines are rounded
	for _, k := range f.kinds {
		r.slack = max(r.slack, k.slack)
	}
	if f.mayBeginEpoch() && !f.has(loses) {
		r.slack = time.Hour // a new epoch ends all packets that are open then
	}
	return r
}

func (f *fault) name() string {
	var names []string
	for _, k := range f.kinds {
		names = append(names, k.name)
	}
	return strings.Join(names, " + ")
}

// line is the fault in one line.
func (f *fault) line() string {
	verdict := "ok"
	if n := len(f.wrong); n > 0 {
		verdict = fmt.Sprintf("%d VIOLATIONS", n)
	}
	return fmt.Sprintf("%4d  seed %-20d  %-70s  %5.1f s  %5d answers  %3d packets drained, %3d expired, %3d cancelled  %4.0f goroutines  %4.1f MiB  %s",
		f.number, f.seed, f.name(), f.took.Seconds(), f.answers, f.ends["drained"], f.ends["expired"], f.ends["cancelled"],
		f.usage.goroutines, f.usage.heap/(1<<20), verdict) + f.notes()
}

// notes says what SQL has lost, what took long, and which histories were too long to explain.
func (f *fault) notes() (what string) {
	if f.lost > 0 {
		what = fmt.Sprintf(" (%d answers lost by SQL)", f.lost)
	}
	if f.longest > 10*time.Second {
		what += fmt.Sprintf(" (%v until %s)", f.longest.Round(time.Second), f.waited)
	}
	if f.undecided > 0 {
		what += fmt.Sprintf(" (%d of %d histories not decided in time)", f.undecided, f.histories)
	}
	return what
}

// report is the fault with up to so many of its violations.
func (f *fault) report(most int) string {
	list := strings.Join(f.wrong[:min(most, len(f.wrong))], "\n")
	if more := len(f.wrong) - most; more > 0 {
		list += fmt.Sprintf("\nand %d more", more)
	}
	return f.line() + "\n" + list + "\n"
}

// size returns how many requests were acknowledged so far.
func (r *record) size() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.texts) + len(r.packets) + len(r.wins) + len(r.cancelled)
}

// interrupted reports whether ctx has ended for another reason than its deadline.
func interrupted(ctx context.Context) bool {
	return ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded)
}
