package redpacket

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// simWorld is one schedule: a few packets, users and instances on simulated engines. Every process runs the real flow
// in a coroutine that pauses before and after each step of an engine. The seed alone decides which process continues
// and which faults happen. So a schedule can be repeated.
type simWorld struct {
	// these do not change during a schedule
	class     simClass
	mutant    simMutant
	pcg       rand.PCG
	rng       *rand.Rand
	flow      flow
	events    []simEvent
	steps     int // number of steps with faults; after them the processes run undisturbed
	instances int
	users     int
	haste     int // one step in this many takes up to 3 s
	lossy     int // one call in this many meets a fault; 0: none
	gather    int // one waiting grab in this many is decided by another grab's script call; 0: none
	outboxCap int
	skew      [simMaxInstances]time.Duration

	// these change during a schedule
	step     int
	clock    time.Duration
	calm     bool // the steps with faults are over
	procs    []*simProcess
	threads  []*simThread // threads that run no process
	running  *simProcess  // nil: a request is executed whose sender has given up or died
	inFlight []func()     // requests that were sent and have not arrived
	down     [2]uint      // by engine: bit i is set if instance i cannot reach it
	ledger   simLedger

	recoveries [simMaxInstances]*recovery

	pool     simPool
	reported simReported
	count    simCounts
	seen     simSights
	trace    *strings.Builder // nil: no trace is written
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
		pool: &w.pool, ledger: &w.ledger, observer: simObserver{w},
		now:   func() time.Time { return simTime(w.clock + w.skew[w.running.instance]) },
		newID: func(time.Time) string { return "id" },
		ack:   func(ctx context.Context, claims []Claim) { _ = w.pool.Ack(ctx, claims) },
		image: w.ledger.Image,
	}
	return w
}

func (w *simWorld) chance(oneIn int) bool { return w.rng.IntN(oneIn) == 0 }

// note adds a line to the trace. The caller must check that there is a trace.
func (w *simWorld) note(format string, args ...any) {
	who := "-"
	if w.running != nil {
		who = w.running.String()
	}
	fmt.Fprintf(w.trace, "%4d %7.3fs  %-16s ", w.step, w.clock.Seconds(), who)
	fmt.Fprintf(w.trace, format+"\n", args...)
}

// run runs the schedule to its end.
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

// turn lets some simulated time pass and lets one process do one step.
func (w *simWorld) turn() {
	w.clock += time.Duration(1+w.rng.IntN(4)) * time.Millisecond
	if w.chance(w.haste) {
		w.clock += time.Duration(w.rng.IntN(3000)) * time.Millisecond
	}
	if len(w.inFlight) > 0 && w.chance(12) {
		w.arrive(w.rng.IntN(len(w.inFlight)))
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
	act := w.inFlight[i]
	last := len(w.inFlight) - 1
	w.inFlight[i] = w.inFlight[last]
	w.inFlight = w.inFlight[:last]
	act()
}

// calmDown ends all faults. It restarts the instances that are dead.
func (w *simWorld) calmDown() {
	w.calm = true
	w.down = [2]uint{}
	w.pool.heal()
	if w.class.crashes && w.chance(2) {
		for i := range w.instances {
			w.crash(i)
		}
	}
	for len(w.inFlight) > 0 {
		w.arrive(len(w.inFlight) - 1)
	}
}

// finish runs the background tasks of one instance, one round for each second, until nothing is left to be done. Then
// every user grabs again.
func (w *simWorld) finish() {
	const patience = 90 // rounds after which finish gives up
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
			w.straight(&simProcess{what: simGrab, packet: packet, user: user, body: w.grabAgain})
		}
	}
	w.judge()
}

// idle reports whether every packet has ended and the outbox is empty.
func (w *simWorld) idle() bool {
	m := w.pool.main()
	for i := range w.ledger.rows {
		if w.ledger.rows[i].status == Open || m.images[i].gen != 0 && !m.images[i].retired {
			return false
		}
	}
	return len(m.outbox) == 0
}
