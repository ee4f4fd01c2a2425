package redpacket

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// simClass says what may go wrong in a schedule. In a strict class nobody is ever disappointed: all that the
// Pool gives it remembers somewhere.
type simClass struct {
	name      string
	strict    bool
	crashes   bool // instances die between any two steps
	outages   bool // requests and replies are lost or late, SQL or Redis is out of some instances' reach
	joins     bool // needless ones
	failovers bool // new generations, with nothing lost
	losses    bool // FLUSHALL, lost tails, two masters for a while
}

func simClasses() []simClass {
	return []simClass{
		{name: "no-faults", strict: true},
		{name: "crashes", strict: true, crashes: true},
		{name: "outages", strict: true, crashes: true, outages: true},
		{name: "joins", strict: true, joins: true},
		{name: "failovers", strict: true, crashes: true, joins: true, failovers: true},
		{name: "everything", crashes: true, outages: true, joins: true, failovers: true, losses: true},
	}
}

// simKind is what begins or happens at a step.
type simKind int

const (
	simSend simKind = iota // the sender's load, right after his commit
	simGrab
	simCancel
	simJoin
	simSweep
	simRecover
	simBackstop
	simCrash
	simDown
	simUp
	simSnapshot // remember the main master as it is now
	simFlush
	simRewind   // lose what came after the snapshot, unnoticed
	simFailover // a new generation, of the snapshot (user 1) or of all there is (user 0)
	simSplit    // a second master, with some of the instances
	simHeal     // it becomes the only one
)

func (k simKind) String() string {
	return [...]string{"send", "grab", "cancel", "join", "sweep", "recover", "backstop", "crash", "down", "up", "snapshot",
		"flush", "rewind", "failover", "split", "heal"}[k]
}

// simEvent is what is to begin or happen when its step has come.
type simEvent struct {
	at       int
	do       simKind
	instance int // down, up: a bit set
	packet   int
	user     int // down, up: the engine
}

func (e simEvent) String() string {
	switch e.do {
	case simCrash:
		return fmt.Sprintf("i%d crashes", e.instance)
	case simDown, simUp:
		return fmt.Sprintf("%s is %s for instances %03b", [...]string{"sql", "redis"}[e.user], e.do, e.instance)
	case simFailover, simSplit:
		return fmt.Sprintf("%s to %s, instances %03b", e.do, [...]string{"all there is", "the snapshot"}[e.user], e.instance)
	}
	return e.do.String()
}

// begin draws a schedule.
func (w *simWorld) begin(seed int, class simClass, mutant simMutant) {
	w.pcg.Seed(uint64(seed), 1)
	r := w.rng
	w.class, w.mutant = class, mutant
	w.step, w.clock, w.calm, w.down, w.lossy = 0, 0, false, [2]uint{}, 0
	w.steps = 60 + r.IntN(140)
	w.instances = 2 + r.IntN(2)
	w.users = 3 + r.IntN(simMaxUsers-2)
	w.haste = 4 + r.IntN(20)
	w.gather = r.IntN(3)
	w.outboxCap = 1000
	if w.chance(8) {
		w.outboxCap = 1 + r.IntN(3)
	}
	if class.outages && !w.chance(4) {
		w.lossy = 8 + r.IntN(40)
	}
	for i := range w.skew {
		w.skew[i] = time.Duration(r.IntN(1000)-500) * time.Millisecond
	}
	w.count, w.seen = simCounts{}, simSights{}
	w.heard = simHeard{}
	w.events = w.events[:0]
	w.pool.reset()
	w.ledger.reset()

	for packet := range w.ledger.rows {
		if mutant&simLoadedFirst != 0 {
			w.straight(&simProcess{what: simSend, packet: packet, body: w.join})
		}
		w.planPacket(packet)
	}
	for range w.steps / 10 {
		w.plan(simEvent{at: r.IntN(w.steps), do: simSweep + simKind(r.IntN(3)), instance: r.IntN(w.instances)})
	}
	w.planFaults()
	slices.SortStableFunc(w.events, func(a, b simEvent) int { return cmp.Compare(a.at, b.at) })
}

func (w *simWorld) plan(e simEvent) { w.events = append(w.events, e) }

// planPacket draws who wants what of a packet, and when.
func (w *simWorld) planPacket(packet int) {
	r := w.rng
	at := func(upTo int) int { return r.IntN(max(1, upTo)) }
	w.plan(simEvent{at: at(4), do: simSend, packet: packet, instance: r.IntN(w.instances)})
	if !w.chance(12) { // else nobody cares
		rush := w.steps / (1 + r.IntN(8))
		for user := range w.users {
			for again := true; again; again = w.chance(3) {
				w.plan(simEvent{at: at(rush), do: simGrab, packet: packet, user: user, instance: r.IntN(w.instances)})
			}
		}
	}
	if w.chance(3) {
		soon := w.steps / (1 + r.IntN(20))
		for again := true; again; again = w.chance(4) {
			w.plan(simEvent{at: at(soon), do: simCancel, packet: packet, instance: r.IntN(w.instances)})
		}
	}
	if w.class.joins {
		for range r.IntN(7) {
			w.plan(simEvent{at: at(w.steps), do: simJoin, packet: packet, instance: r.IntN(w.instances)})
		}
	}
}

func (w *simWorld) planFaults() {
	r := w.rng
	if w.class.crashes {
		for range r.IntN(4) {
			w.plan(simEvent{at: r.IntN(w.steps), do: simCrash, instance: r.IntN(w.instances)})
		}
	}
	if w.class.outages {
		for range r.IntN(3) {
			e := simEvent{at: r.IntN(w.steps), do: simDown, instance: 1 + r.IntN(1<<w.instances-1), user: r.IntN(2)}
			w.plan(e)
			e.at += 3 + r.IntN(40)
			e.do = simUp
			w.plan(e)
		}
	}
	if w.class.failovers {
		for range r.IntN(3) {
			w.plan(simEvent{at: r.IntN(w.steps), do: simFailover})
		}
	}
	if w.class.losses {
		for range 1 + r.IntN(2) {
			w.planLoss()
		}
	}
}

func (w *simWorld) planLoss() {
	at := w.rng.IntN(w.steps)
	w.plan(simEvent{at: max(0, at-w.rng.IntN(40)), do: simSnapshot})
	switch w.rng.IntN(4) {
	case 0:
		w.plan(simEvent{at: at, do: simFlush})
	case 1:
		w.plan(simEvent{at: at, do: simRewind})
	case 2:
		w.plan(simEvent{at: at, do: simFailover, user: 1})
	case 3:
		w.plan(simEvent{at: at, do: simSplit, instance: w.rng.IntN(1 << w.instances), user: w.rng.IntN(2)})
		w.plan(simEvent{at: at + 5 + w.rng.IntN(60), do: simHeal})
	}
}

// happen begins a process or lets a fault strike.
func (w *simWorld) happen(e simEvent) {
	if w.trace != nil && e.do >= simCrash {
		w.note("%s", e)
	}
	switch e.do {
	case simSend, simJoin:
		w.start(e, w.join)
	case simGrab:
		w.start(e, w.grab)
	case simCancel:
		w.start(e, w.cancel)
	case simSweep:
		w.start(e, w.sweep)
	case simRecover:
		w.start(e, w.recover)
	case simBackstop:
		w.start(e, w.backstop)
	case simCrash:
		w.crash(e.instance)
	case simDown:
		w.down[e.user] |= uint(e.instance)
	case simUp:
		w.down[e.user] &^= uint(e.instance)
	default:
		w.pool.strike(e)
	}
}

func (w *simWorld) start(e simEvent, body func(*simProcess)) {
	w.spawn(&simProcess{what: e.do, instance: e.instance, packet: e.packet, user: e.user, body: body})
}
