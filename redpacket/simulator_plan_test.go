package redpacket

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// simClass says which faults may happen in a schedule. In a strict class no user may be disappointed: some master
// keeps every grant of the Pool.
type simClass struct {
	name      string
	strict    bool
	crashes   bool // an instance dies between any two steps
	outages   bool // requests and replies are lost or delayed; some instances cannot reach SQL or Redis
	joins     bool // packets are joined although nothing is missing
	failovers bool // Redis masters are replaced, with all data kept
	losses    bool // Redis is flushed, loses its latest writes, or has two masters for a while
	poison    bool // SQL fails to settle single claims, for a while or for good
	holds     bool // packets hold shares for users
	persons   bool // packets pay one share a person, and SQL loses to whom persons are bound
	rains     bool // one packet is a rain
}

func simClasses() []simClass {
	return []simClass{
		{name: "no-faults", strict: true},
		{name: "crashes", strict: true, crashes: true},
		{name: "outages", strict: true, crashes: true, outages: true},
		{name: "joins", strict: true, joins: true},
		{name: "failovers", strict: true, crashes: true, joins: true, failovers: true},
		{name: "poison", strict: true, crashes: true, poison: true},
		{name: "holds", strict: true, crashes: true, outages: true, joins: true, holds: true},
		{name: "persons", crashes: true, outages: true, joins: true, losses: true, persons: true},
		{name: "rains", strict: true, crashes: true, outages: true, rains: true},
		{name: "everything", crashes: true, outages: true, joins: true, failovers: true, losses: true, poison: true, holds: true, rains: true},
	}
}

// simKind is the kind of an event: a process that begins at a step, or a fault that happens there.
type simKind int

const (
	simSend simKind = iota // a packet was committed, and its instance loads it into the Pool
	simGrab
	simCancel
	simJoin
	simDelete // the owner deletes the room of the packets
	simSweep
	simRecover
	simBackstop
	simCrash
	simDown
	simUp
	simSnapshot // a copy of the newest master's data is kept
	simFlush
	simRewind   // the newest master goes back to the snapshot, unnoticed
	simFailover // a master of a new generation, from the snapshot (user 1) or from all data (user 0)
	simSplit    // some instances see a second master
	simHeal     // all instances see the newest master
	simForget   // SQL loses to whom persons are bound
)

func (k simKind) String() string {
	return [...]string{"send", "grab", "cancel", "join", "delete", "sweep", "recover", "backstop", "crash", "down", "up", "snapshot",
		"flush", "rewind", "failover", "split", "heal", "forget"}[k]
}

// simEvent is one event of a schedule, at its step.
type simEvent struct {
	at       int
	do       simKind
	instance int // for down and up: a set of instances, one bit each
	packet   int
	user     int // for down and up: the number of the engine
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

// begin draws a schedule from the seed.
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
	w.reported = simReported{}
	w.events = w.events[:0]
	w.pool.reset()
	w.ledger.reset()
	for i := range w.recoveries {
		w.recoveries[i] = newRecovery(&w.flow)
	}

	for packet := range w.ledger.rows {
		if mutant&simLoadedFirst != 0 {
			w.straight(&simProcess{what: simSend, packet: packet, body: w.join})
		}
		w.planPacket(packet)
	}
	if w.chance(4) {
		w.plan(simEvent{at: r.IntN(w.steps), do: simDelete, instance: r.IntN(w.instances)})
	}
	for range w.steps / 10 {
		w.plan(simEvent{at: r.IntN(w.steps), do: simSweep + simKind(r.IntN(3)), instance: r.IntN(w.instances)})
	}
	w.planFaults()
	slices.SortStableFunc(w.events, func(a, b simEvent) int { return cmp.Compare(a.at, b.at) })
}

func (w *simWorld) plan(e simEvent) { w.events = append(w.events, e) }

// planPacket draws which users grab or cancel the packet, and when.
func (w *simWorld) planPacket(packet int) {
	r := w.rng
	at := func(upTo int) int { return r.IntN(max(1, upTo)) }
	w.plan(simEvent{at: at(4), do: simSend, packet: packet, instance: r.IntN(w.instances)})
	if !w.chance(12) { // one packet of twelve is grabbed by no user
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
	if w.class.persons {
		for range r.IntN(3) {
			w.plan(simEvent{at: r.IntN(w.steps), do: simForget})
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

// happen starts the process of the event, or makes its fault happen.
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
	case simDelete:
		w.start(e, w.deleteRoom)
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
	case simForget:
		w.ledger.forgetBindings()
	default:
		w.pool.strike(e)
	}
}

func (w *simWorld) start(e simEvent, body func(*simProcess)) {
	w.spawn(&simProcess{what: e.do, instance: e.instance, packet: e.packet, user: e.user, body: body})
}
