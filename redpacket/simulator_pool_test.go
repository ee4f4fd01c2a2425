package redpacket

import (
	"context"
	"strconv"
	"time"
)

// simPool is a Pool written from the Pool's contract, as small as possible. It has up to two masters, and packets p0
// and p1. Every script is one step of the simulation.
type simPool struct {
	Pool
	w         *simWorld
	masters   [2]simMaster
	now       int                  // index of the newest master
	side      [simMaxInstances]int // by instance: the index of the master that it uses
	kept      simMaster
	lastGen   int
	lastEntry int
}

// call runs a script on the master that the running process uses.
func (s *simPool) call(script func(m *simMaster)) error {
	from := s.w.running.instance
	return s.w.call(simRedis, func() { script(&s.masters[s.side[from]]) })
}

// simGrabRequest is a grab that waits for the script call that decides it.
type simGrabRequest struct {
	attempt Attempt
	done    bool // it was decided, perhaps by a call of another process
	answer  Answer
}

// Grab implements Pool. Its script call may also decide other waiting grabs of the same instance.
func (s *simPool) Grab(_ context.Context, attempts []Attempt) ([]Answer, error) {
	p := s.w.running
	own := &simGrabRequest{attempt: attempts[0]}
	p.grabRequest = own
	err := s.call(func(m *simMaster) {
		if own.done {
			return
		}
		requests := []*simGrabRequest{own}
		for _, o := range s.w.procs {
			if o != p && o.instance == p.instance && o.grabRequest != nil && !o.grabRequest.done && s.w.gather > 0 && s.w.chance(s.w.gather) {
				requests = append(requests, o.grabRequest)
			}
		}
		s.grab(m, requests)
	})
	p.grabRequest = nil
	return []Answer{own.answer}, err
}

func (s *simPool) grab(m *simMaster, requests []*simGrabRequest) {
	entry := simEntry{at: s.w.clock}
	waiting := m.waiting()
	for _, request := range requests {
		a := request.attempt
		request.done = true
		request.answer = s.decide(m, a, waiting+len(entry.claims))
		if request.answer.Decision == Granted {
			im := m.image(a.ID)
			im.holder[request.answer.Share] = simIndex(a.User) + 1
			if hold := s.w.ledger.rows[simIndex(a.ID)].hold; hold.Active(simTime(s.w.clock)) && hold.keeps(request.answer.Share, a.User) {
				s.w.count[simStolen]++
			}
			if s.w.clock < s.w.ledger.rows[simIndex(a.ID)].opens {
				s.w.count[simTooSoon]++
			}
			if entry.id == "" {
				s.lastEntry++
				entry.id = "e" + strconv.Itoa(s.lastEntry)
			}
			request.answer.Entry = entry.id
			request.answer.Taken++
			if request.answer.Last = im.free() < 0; request.answer.Last {
				im.hasten(s.w.clock + CloseLease)
			}
			entry.claims = append(entry.claims, Claim{Ref: a.Ref, User: a.User, Share: request.answer.Share, Entry: entry.id})
			s.w.reported.granted[simIndex(a.ID)][simIndex(a.User)] = true
		}
		if s.w.trace != nil {
			s.w.note("redis: grab %s %s: %s", a.User, a.ID, simAnswer(request.answer))
		}
	}
	if len(entry.claims) > 0 {
		m.outbox = append(m.outbox, entry)
	}
}

// decide returns the answer to an attempt, by the same order of checks as every Pool. waiting is the number of claims
// in the outbox.
func (s *simPool) decide(m *simMaster, a Attempt, waiting int) Answer {
	im := m.image(a.ID)
	if im == nil {
		return Answer{Decision: Missing}
	}
	ans := Answer{Taken: im.taken()}
	free, share := im.free(), im.shareOf(simIndex(a.User))
	pick := im.pick(simIndex(a.User), simTime(s.w.clock))
	yours := share >= 0
	switch {
	case yours && s.w.mutant&simStoredShareLast == 0:
		ans.Decision, ans.Share = Yours, share
	case a.May == NotMember:
		ans.Decision = Outsider
	case im.reason != Open:
		ans.Decision, ans.Reason = IsClosed, im.reason
	case s.w.clock < im.opens && s.w.mutant&simOpensAtOnce == 0:
		ans.Decision = NotYet
	case s.w.clock >= im.deadline:
		ans.Decision = IsLate
	case free < 0:
		ans.Decision = IsEmpty
	case yours:
		ans.Decision, ans.Share = Yours, share
	case pick < 0:
		ans.Decision, ans.Waiting = AllHeld, im.count-ans.Taken
	case a.May == Denied:
		ans.Decision = IsDenied
	case waiting >= s.w.outboxCap:
		ans.Decision = Busy
	default:
		ans.Decision, ans.Share = Granted, pick
	}
	return ans
}

// simAnswer returns the text of an answer, for the trace.
func simAnswer(a Answer) string {
	s := [...]string{"missing", "yours", "outsider", "closed", "late", "empty", "denied", "busy", "granted", NotYet: "not yet", AllHeld: "held"}[a.Decision]
	switch a.Decision {
	case Yours:
		s += " share " + strconv.Itoa(a.Share)
	case Granted:
		s += " share " + strconv.Itoa(a.Share) + " in " + a.Entry
		if a.Last {
			s += ", the last"
		}
	case IsClosed:
		s += " for " + string(a.Reason)
	}
	return s
}

// Load implements Pool.
func (s *simPool) Load(_ context.Context, i Image) error {
	return s.call(func(m *simMaster) {
		im := &m.images[simIndex(i.ID)]
		if im.gen == 0 {
			*im = simImage{count: i.Count, opens: i.OpensAt.Sub(simTime(0)), deadline: i.Deadline.Sub(simTime(0)), hold: i.Hold, reason: Open}
			im.due = im.deadline
		}
		s.join(im, i)
		im.gen = m.gen
		if s.w.mutant&simRetireDeletes != 0 && im.retired {
			*im = simImage{}
		}
		if s.w.trace != nil {
			s.w.note("redis: load %s %s %v: now %s %v", i.ID, i.Status, i.Grants, im.reason, im.grants())
		}
	})
}

func (s *simPool) join(im *simImage, i Image) {
	if s.w.mutant&simEndNotLoaded == 0 || i.Status == Open || im.gen == 0 {
		held := im.holder
		im.holder = [simMaxShares]int{}
		for _, g := range i.Grants {
			im.holder[g.Share] = simIndex(g.User) + 1
		}
		for share, h := range held {
			if h != 0 && im.holder[share] == 0 && im.shareOf(h-1) < 0 && s.w.mutant&simLoadOverwrites == 0 {
				im.holder[share] = h
			}
		}
	}
	if im.reason == Open || s.w.mutant&simLoadReopens != 0 {
		im.reason = i.Status
	}
	im.retired = im.retired || i.Status != Open
	if im.reason != Open || im.free() < 0 {
		im.hasten(s.w.clock + CloseLease)
	}
}

// Close implements Pool.
func (s *simPool) Close(_ context.Context, p Ref, why CloseReason) (c Closing, err error) {
	err = s.call(func(m *simMaster) {
		c = s.close(m, p, why)
		if s.w.trace != nil {
			s.w.note("redis: close %s, %s: %+v", p.ID, [...]string{"due", "cancel", "room deleted"}[why], c)
		}
	})
	return c, err
}

func (s *simPool) close(m *simMaster, p Ref, why CloseReason) Closing {
	cancel := why == CloseCancel
	forced := why == CloseEarly && s.w.mutant&simDeletedWaits == 0
	im := m.image(p.ID)
	if im == nil && s.w.mutant&simMissingIsEmpty != 0 {
		return Closing{Reason: Expired}
	}
	if im == nil {
		return Closing{Missing: true}
	}
	ended := im.reason != Open || s.w.clock >= min(im.deadline, im.due)
	if cancel && im.reason != Cancelled && (ended || im.taken() > 0) {
		return Closing{Refused: true, Reason: im.reason}
	}
	switch {
	case im.reason != Open:
	case cancel:
		im.reason = Cancelled
	case im.free() < 0:
		im.reason = Drained
	case s.w.clock < im.deadline && !forced && s.w.mutant&simClosesEarly == 0:
		im.due = im.deadline
		return Closing{Refused: true, Reason: Open}
	default:
		im.reason = Expired
	}
	im.due = s.w.clock + CloseLease
	im.retired = im.retired || s.w.mutant&simDueDropped != 0
	if s.w.mutant&simCloseForgets != 0 {
		return Closing{Reason: im.reason}
	}
	return Closing{Reason: im.reason, Grants: im.grants()}
}

// Ack implements Pool.
func (s *simPool) Ack(_ context.Context, claims []Claim) error {
	return s.call(func(m *simMaster) {
		for _, c := range claims {
			m.ack(c)
		}
		if s.w.trace != nil {
			s.w.note("redis: ack %d claims", len(claims))
		}
	})
}

// Due implements Pool.
func (s *simPool) Due(context.Context, int) (due []Ref, err error) {
	err = s.call(func(m *simMaster) {
		for i := range m.images {
			if im := &m.images[i]; im.gen != 0 && !im.retired && im.due <= s.w.clock {
				due = append(due, simRef(i))
			}
		}
	})
	return due, err
}

// Unsettled implements Pool.
func (s *simPool) Unsettled(_ context.Context, age time.Duration, from *OutboxCursor, _ int) (claims []Claim, err error) {
	err = s.call(func(m *simMaster) {
		for _, e := range m.outbox {
			if e.at+age <= s.w.clock {
				claims = append(claims, e.claims...)
			}
		}
	})
	for i := range from {
		from[i].Done = true
	}
	return claims, err
}
