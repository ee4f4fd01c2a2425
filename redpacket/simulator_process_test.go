package redpacket

import (
	"fmt"
	"iter"

	"hongbao/chat"
)

// simProcess is one flow of control in one instance.
type simProcess struct {
	what     simKind
	instance int
	packet   int
	user     int
	body     func(*simProcess)
	thread   *simThread // nil: runs straight through
	dead     bool       // whatever it still does has no effect
	slow     bool
	request  func()  // about to leave
	ask      *simAsk // a grab that waits for its script call
}

// simThread is a coroutine that runs one process after another: its stack is grown once.
type simThread struct {
	p     *simProcess
	next  func() (ended, ok bool) // goes on to the next pause or the end
	stop  func()
	yield func(ended bool) bool
}

func newSimThread() *simThread {
	t := &simThread{}
	t.next, t.stop = iter.Pull(func(yield func(bool) bool) {
		t.yield = yield
		for more := true; more; more = yield(true) {
			t.p.body(t.p)
		}
	})
	return t
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
func (w *simWorld) spawn(p *simProcess) {
	p.slow = w.chance(6)
	if last := len(w.threads) - 1; last >= 0 {
		p.thread = w.threads[last]
		w.threads = w.threads[:last]
	} else {
		p.thread = newSimThread()
	}
	p.thread.p = p
	w.procs = append(w.procs, p)
}

// straight runs a process to its end at once.
func (w *simWorld) straight(p *simProcess) {
	w.running = p
	p.body(p)
	w.running = nil
}

// resume lets a process go one step on, and tells whether that was its last.
func (w *simWorld) resume(p *simProcess) (ended bool) {
	w.running = p
	if ended, _ = p.thread.next(); ended {
		w.threads = append(w.threads, p.thread)
	}
	w.running = nil
	return ended
}

// pause lets others go on; false means that the process died meanwhile.
func (w *simWorld) pause(p *simProcess) bool {
	if p.thread != nil && !p.dead {
		p.thread.yield(false)
	}
	return !p.dead
}

// crash kills all processes of an instance; what they had just sent may still arrive. A dead process runs on
// to its end, but every engine it calls refuses and nobody hears it.
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
		w.resume(p)
	}
	w.procs = kept
}

// stop ends the coroutines of a world that is not needed any more.
func (w *simWorld) stop() {
	for _, t := range w.threads {
		t.stop()
	}
}

// simEngine is what a call goes to.
type simEngine int

const (
	simSQL simEngine = iota
	simRedis
)

var errSim = fmt.Errorf("simulated: %w", chat.ErrUnavailable)

// call carries out a request of the running process: each act is one step of the engine, with a pause before
// it and one before the reply.
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
	if !w.pause(p) || w.cut(p, e) {
		return errSim
	}
	return nil
}

// simMishap is what befalls one call.
type simMishap int

const (
	simNone simMishap = iota
	simNotDone
	simReplyLost
	simLate // the sender gives up, and the request arrives after all
)

// mishap draws what befalls a call that is about to act.
func (w *simWorld) mishap(p *simProcess, e simEngine) simMishap {
	m := simNone
	switch {
	case w.cut(p, e):
		m = simNotDone
	case w.lossy > 0 && !w.calm && w.chance(w.lossy):
		m = simNotDone + simMishap(w.rng.IntN(3))
	}
	if m != simNone && w.trace != nil {
		w.note("%s: %s", [...]string{"sql", "redis"}[e], [...]string{1: "unreachable", 2: "reply lost of", 3: "request late"}[m])
	}
	return m
}

// cut tells whether the process does not reach the engine.
func (w *simWorld) cut(p *simProcess, e simEngine) bool { return w.down[e]&(1<<p.instance) != 0 }
