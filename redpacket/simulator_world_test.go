package redpacket

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// simWorld is one schedule: a few packets, users and instances on scripted engines. Every process runs the real
// flow in a coroutine that pauses before and after each thing an engine does; which of them goes on, and what
// goes wrong, is drawn from the seed alone, so that a schedule can be replayed.
type simWorld struct {
	// static of a schedule
	class     simClass
	mutant    simMutant
	pcg       rand.PCG
	rng       *rand.Rand
	flow      flow
	events    []simEvent
	steps     int // with faults; then everything is left to end in peace
	instances int
	users     int
	haste     int // one step in so many takes up to 3 s
	lossy     int // one call in so many goes wrong; 0: none
	gather    int // one grab in so many that wait joins another's script call; 0: none
	outboxCap int
	skew      [simMaxInstances]time.Duration

	// moving
	step    int
	clock   time.Duration
	calm    bool // no more faults
	procs   []*simProcess
	threads []*simThread // that have nothing to do
	running *simProcess  // nil: a request whose sender has given up or died
	late    []func()     // requests still on the wire
	down    [2]uint      // bit i: instance i does not reach the engine
	ledger  simLedger
	pool    simPool
	heard   simHeard
	count   simCounts
	seen    simSights
	trace   *strings.Builder // nil: none
}

const (
	simMaxPackets   = 2
	simMaxShares    = 6
	simMaxUsers     = 10
	simMaxInstances = 3
)

func simUser(i int) string { return "u0u1u2u3u4u5u6u7u8u9"[2*i : 2*i+2] }

func simRef(i int) Ref { return Ref{ID: "p0p1"[2*i : 2*i+2], Partition: i} }

func simIndex(id string) int { return int(id[1] - '0') }

func simTime(d time.Duration) time.Time { return time.Unix(1_700_000_000, 0).Add(d) }

func newSimWorld() *simWorld {
	w := &simWorld{}
	w.rng = rand.New(&w.pcg)
	w.ledger.w, w.pool.w = w, w
	w.flow = flow{
		pool: &w.pool, ledger: &w.ledger, witness: simWitness{w},
		now:   func() time.Time { return simTime(w.clock + w.skew[w.running.instance]) },
		newID: func(time.Time) string { return "id" },
	}
	return w
}

func (w *simWorld) chance(oneIn int) bool { return w.rng.IntN(oneIn) == 0 }

// note adds a line to the trace; callers ask whether there is one.
func (w *simWorld) note(format string, args ...any) {
	who := "-"
	if w.running != nil {
		who = w.running.String()
	}
	fmt.Fprintf(w.trace, "%4d %7.3fs  %-16s ", w.step, w.clock.Seconds(), who)
	fmt.Fprintf(w.trace, format+"\n", args...)
}

// run plays the schedule to its end.
func (w *simWorld) run() {
	for w.step = 0; w.step < w.steps; w.step++ {
		for len(w.events) > 0 && w.events[0].at <= w.step {
			w.happen(w.events[0])
			w.events = w.events[1:]
		}
		w.turn()
	}
	w.calmDown()
	for ; len(w.procs) > 0; w.step++ {
		w.turn()
	}
	w.finish()
}

// turn lets some time pass and one process go one step on.
func (w *simWorld) turn() {
	w.clock += time.Duration(1+w.rng.IntN(4)) * time.Millisecond
	if w.chance(w.haste) {
		w.clock += time.Duration(w.rng.IntN(3000)) * time.Millisecond
	}
	if len(w.late) > 0 && w.chance(12) {
		w.arrive(w.rng.IntN(len(w.late)))
	}
	if len(w.procs) == 0 {
		return
	}
	i := w.rng.IntN(len(w.procs))
	if w.procs[i].slow && !w.chance(8) {
		i = w.rng.IntN(len(w.procs))
	}
	if w.resume(w.procs[i]) {
		last := len(w.procs) - 1
		w.procs[i] = w.procs[last]
		w.procs = w.procs[:last]
	}
}

func (w *simWorld) arrive(i int) {
	act := w.late[i]
	last := len(w.late) - 1
	w.late[i] = w.late[last]
	w.late = w.late[:last]
	act()
}

// calmDown ends all faults; instances that were dying are restarted.
func (w *simWorld) calmDown() {
	w.calm = true
	w.down = [2]uint{}
	w.pool.heal()
	if w.class.crashes && w.chance(2) {
		for i := range w.instances {
			w.crash(i)
		}
	}
	for len(w.late) > 0 {
		w.arrive(len(w.late) - 1)
	}
}

// finish lets the background tasks of one instance do what is left, second by second, and then everyone asks again.
func (w *simWorld) finish() {
	const patience = 90 // rounds
	for s := 0; s < patience && !w.idle(); s++ {
		if s == int(recoverAge/time.Second)+2 {
			w.recovered()
		}
		w.clock += time.Second
		w.step++
		w.straight(&simProcess{what: simSweep, body: w.sweep})
		w.straight(&simProcess{what: simRecover, body: w.recover})
		if s%3 == 0 {
			w.straight(&simProcess{what: simBackstop, body: w.backstop})
		}
	}
	w.settled()
	for packet := range w.ledger.rows {
		for user := range w.users {
			w.straight(&simProcess{what: simGrab, packet: packet, user: user, body: w.askAgain})
		}
	}
	w.judge()
}

// idle tells whether nothing is left to be done.
func (w *simWorld) idle() bool {
	m := w.pool.main()
	for i := range w.ledger.rows {
		if w.ledger.rows[i].status == Open || m.images[i].gen != 0 && !m.images[i].retired {
			return false
		}
	}
	return len(m.outbox) == 0
}
