package redpacket

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"time"

	"hongbao/chat"
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
	running *simProcess // nil: a request whose sender has given up or died
	late    []func()    // requests still on the wire
	down    [2]uint     // bit i: instance i does not reach the engine
	ledger  simLedger
	pool    simPool
	heard   simHeard
	count   simCounts
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

// simEngine is what a call goes to.
type simEngine int

const (
	simSQL simEngine = iota
	simRedis
)

var errSim = fmt.Errorf("simulated: %w", chat.ErrUnavailable)

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

func (w *simWorld) note(format string, args ...any) {
	who := "late"
	if w.running != nil {
		who = w.running.String()
	}
	fmt.Fprintf(w.trace, "%4d %7.3fs  %-16s ", w.step, w.clock.Seconds(), who)
	fmt.Fprintf(w.trace, format+"\n", args...)
}

// simProcess is one flow of control in one instance.
type simProcess struct {
	what     simKind
	instance int
	packet   int
	user     int
	next     func() (struct{}, bool)
	stop     func()
	yield    func(struct{}) bool // nil: runs straight through
	dead     bool                // whatever it still does has no effect
	slow     bool
	request  func()  // about to leave
	ask      *simAsk // a grab that waits for its script call
}

func (p *simProcess) String() string {
	switch p.what {
	case simGrab:
		return fmt.Sprintf("i%d grab %s %s", p.instance, simUser(p.user), simRef(p.packet).ID)
	case simSend, simCancel, simJoin:
		return fmt.Sprintf("i%d %s %s", p.instance, p.what, simRef(p.packet).ID)
	}
	return fmt.Sprintf("i%d %s", p.instance, p.what)
}

// spawn starts a process that the scheduler moves.
func (w *simWorld) spawn(p *simProcess, body func(*simProcess)) {
	p.slow = w.chance(6)
	p.next, p.stop = iter.Pull(func(yield func(struct{}) bool) {
		p.yield = yield
		body(p)
	})
	w.procs = append(w.procs, p)
}

// straight runs a process to its end at once.
func (w *simWorld) straight(p *simProcess, body func(*simProcess)) {
	w.running = p
	body(p)
	w.running = nil
}

// pause lets others go on; false means that the process died meanwhile.
func (w *simWorld) pause(p *simProcess) bool {
	if p.yield != nil && !p.dead {
		p.dead = !p.yield(struct{}{})
	}
	return !p.dead
}

// call carries out a request of the running process: each act is one step of the engine.
func (w *simWorld) call(e simEngine, acts ...func()) error {
	p := w.running
	for _, act := range acts {
		p.request = act
		alive := w.pause(p)
		p.request = nil
		if !alive {
			return errSim
		}
		switch w.mishap(p, e) {
		case simNotDone:
			return errSim
		case simLate:
			w.late = append(w.late, act)
			return errSim
		case simReplyLost:
			act()
			w.pause(p)
			return errSim
		}
		act()
	}
	if !w.pause(p) || w.down[e]&(1<<p.instance) != 0 {
		return errSim
	}
	return nil
}

type simMishap int

const (
	simNone simMishap = iota
	simNotDone
	simReplyLost
	simLate // the sender gives up, and the request arrives after all
)

func (w *simWorld) mishap(p *simProcess, e simEngine) simMishap {
	m := simNone
	switch {
	case w.down[e]&(1<<p.instance) != 0:
		m = simNotDone
	case !w.calm && w.lossy > 0 && w.chance(w.lossy):
		m = simNotDone + simMishap(w.rng.IntN(3))
	}
	if m != simNone && w.trace != nil {
		w.note("%s: %s", [...]string{"sql", "redis"}[e], [...]string{1: "unreachable", 2: "reply lost:", 3: "request late"}[m])
	}
	return m
}

// crash kills all processes of an instance; what they had just sent may still arrive.
func (w *simWorld) crash(instance int) {
	kept := w.procs[:0]
	for _, p := range w.procs {
		if p.instance != instance {
			kept = append(kept, p)
			continue
		}
		if p.request != nil && w.chance(4) {
			w.late = append(w.late, p.request)
		}
		p.dead = true
		w.running = p
		p.stop()
	}
	w.running = nil
	w.procs = kept
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
	p := w.procs[i]
	w.running = p
	if _, more := p.next(); !more {
		last := len(w.procs) - 1
		w.procs[i] = w.procs[last]
		w.procs = w.procs[:last]
	}
	w.running = nil
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
	const patience = 60
	for s := 0; s < patience && !w.idle(); s++ {
		w.clock += time.Second
		w.step++
		w.straight(&simProcess{what: simSweep}, w.sweep)
		w.straight(&simProcess{what: simRecover}, w.recover)
		if s%3 == 0 {
			w.straight(&simProcess{what: simBackstop}, w.backstop)
		}
	}
	w.settled()
	for packet := range w.ledger.rows {
		for user := range w.users {
			w.straight(&simProcess{what: simGrab, packet: packet, user: user}, w.askAgain)
		}
	}
	w.judge()
}

// idle tells whether nothing is left to be done.
func (w *simWorld) idle() bool {
	for i := range w.ledger.rows {
		if w.ledger.rows[i].status == Open {
			return false
		}
	}
	return len(w.pool.main().outbox) == 0
}

// The bodies of the processes: the real flow, and around it what the service does.

func (w *simWorld) send(p *simProcess) { _ = w.flow.join(context.Background(), simRef(p.packet).ID) }

func (w *simWorld) cancel(p *simProcess) {
	_, err := w.flow.close(context.Background(), simRef(p.packet), true)
	if w.trace != nil && !p.dead {
		w.note("cancel ends: %v", err)
	}
}

func (w *simWorld) sweep(*simProcess) {
	due, _ := w.pool.Due(context.Background(), pageOfWork)
	for _, ref := range due {
		_, _ = w.flow.close(context.Background(), ref, false)
	}
}

func (w *simWorld) recover(*simProcess) {
	if w.mutant&simNoRecovery == 0 {
		_ = w.flow.recover(context.Background())
	}
}

func (w *simWorld) backstop(*simProcess) {
	if w.mutant&simNoBackstop != 0 {
		return
	}
	_ = w.flow.backstop(context.Background(), func(ref Ref) error {
		_, err := w.flow.close(context.Background(), ref, false)
		return err
	})
}
