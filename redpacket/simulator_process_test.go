package redpacket

import (
	"fmt"
	"iter"

	"hongbao/chat"
)

// simProcess is one sequence of calls in one instance: a command of a user, or a background task.
type simProcess struct {
	what        simKind
	instance    int
	packet      int
	user        int
	body        func(*simProcess)
	thread      *simThread // the coroutine that runs the process; nil: it runs to its end without pauses
	dead        bool       // its instance has died: no call of the process has an effect any more
	slow        bool
	request     func()          // the request to an engine that the process is about to send
	grabRequest *simGrabRequest // a grab that waits for its script call
}

// simThread is a coroutine that runs processes, one after the other. Reusing it avoids growing a new stack for each
// process.
type simThread struct {
	p     *simProcess
	next  func() (ended, ok bool) // runs the process up to its next pause or its end
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

// spawn adds a process, whose steps the scheduler mixes with those of others.
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

// straight runs a process to its end without a step of another one in between.
func (w *simWorld) straight(p *simProcess) {
	w.running = p
	p.body(p)
	w.running = nil
}

// resume runs a process up to its next pause or its end, and reports whether it has ended.
func (w *simWorld) resume(p *simProcess) (ended bool) {
	w.running = p
	if ended, _ = p.thread.next(); ended {
		w.threads = append(w.threads, p.thread)
	}
	w.running = nil
	return ended
}

// pause lets other processes run. It returns false if the process was killed meanwhile.
func (w *simWorld) pause(p *simProcess) bool {
	if p.thread != nil && !p.dead {
		p.thread.yield(false)
	}
	return !p.dead
}

// crash kills all processes of an instance. A request that a process had just sent may still arrive. The code of a
// killed process runs on to its end, but every engine that it calls refuses, and its results are dropped.
func (w *simWorld) crash(instance int) {
	w.recoveries[instance] = newRecovery(&w.flow) // the restarted instance has no paused claims
	kept := w.procs[:0]
	for _, p := range w.procs {
		if p.instance != instance {
			kept = append(kept, p)
			continue
		}
		if p.request != nil && w.chance(4) {
			w.inFlight = append(w.inFlight, p.request)
		}
		p.dead = true
		w.resume(p)
	}
	w.procs = kept
}

// stop ends the coroutines of the world.
func (w *simWorld) stop() {
	for _, t := range w.threads {
		t.stop()
	}
}

// simEngine is an engine that can be called: SQL or the Pool.
type simEngine int

const (
	simSQL simEngine = iota
	simRedis
)

var errSim = fmt.Errorf("simulated: %w", chat.ErrUnavailable)

// call executes a request of the running process. Each act is one step of the engine. The process pauses before each
// act and before the reply.
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
		case simDelayed:
			w.inFlight = append(w.inFlight, act)
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

// simMishap is the fault that one call meets.
type simMishap int

const (
	simNone simMishap = iota
	simNotDone
	simReplyLost
	simDelayed // the caller gives up, but the request arrives later
)

// mishap draws which fault, if any, a call meets before it acts.
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

// cut reports whether the process cannot reach the engine.
func (w *simWorld) cut(p *simProcess, e simEngine) bool { return w.down[e]&(1<<p.instance) != 0 }
