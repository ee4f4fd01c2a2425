package redpacket

import (
	"context"
	"slices"
	"time"
)

// simPool is the Pool after its contract, as small as can be: up to two masters with packets p0 and p1.
type simPool struct {
	Pool
	w         *simWorld
	masters   [2]simMaster
	now       int                  // the main one
	side      [simMaxInstances]int // which master an instance talks to
	kept      simMaster
	lastGen   int
	lastEntry int
}

// simMaster is all that one Redis knows.
type simMaster struct {
	gen    int
	images [simMaxPackets]simImage
	outbox []simEntry
}

type simImage struct {
	gen      int // 0: no image
	count    int
	deadline time.Duration
	reason   Status
	holder   [simMaxShares]int // user + 1
	retired  bool
	due      time.Duration
}

// simEntry remembers the grants of one script call until each is acked.
type simEntry struct {
	id     string
	at     time.Duration
	claims []Claim
}

// simAsk is a grab on its way to the script.
type simAsk struct {
	attempt Attempt
	done    bool // by the call of another process
	answer  Answer
}

func (s *simPool) reset() {
	s.masters = [2]simMaster{}
	s.kept = simMaster{}
	s.now, s.lastGen, s.lastEntry, s.side = 0, 1, 0, [simMaxInstances]int{}
	s.masters[0].gen = 1
}

func (s *simPool) main() *simMaster { return &s.masters[s.now] }

func (m *simMaster) clone() simMaster {
	c := *m
	c.outbox = make([]simEntry, len(m.outbox))
	for i, e := range m.outbox {
		e.claims = slices.Clone(e.claims)
		c.outbox[i] = e
	}
	return c
}

// strike lets a fault of Redis happen.
func (s *simPool) strike(e simEvent) {
	switch e.do {
	case simSnapshot:
		s.kept = s.main().clone()
	case simFlush:
		*s.main() = simMaster{gen: s.main().gen}
	case simRewind:
		gen := s.main().gen
		*s.main() = s.kept.clone()
		s.main().gen = gen
	case simFailover:
		s.succeed(s.now, e.user == 1)
	case simSplit:
		s.heal()
		s.succeed(1-s.now, e.user == 1)
		for i := range s.side {
			if e.instance&(1<<i) != 0 {
				s.side[i] = 1 - s.now
			}
		}
		s.now = 1 - s.now
	case simHeal:
		s.heal()
	}
}

// succeed makes a master of a new generation from what the main one holds, or from its snapshot.
func (s *simPool) succeed(at int, lossy bool) {
	from := s.main()
	if lossy {
		from = &s.kept
	}
	m := from.clone()
	s.lastGen++
	m.gen = s.lastGen
	s.masters[at] = m
}

// heal sends everybody to the newest master.
func (s *simPool) heal() {
	for i := range s.side {
		s.side[i] = s.now
	}
}

// image finds the packet's image on a master, if it is of that master's generation.
func (m *simMaster) image(id string) *simImage {
	im := &m.images[simIndex(id)]
	if im.gen != m.gen {
		return nil
	}
	return im
}

func (im *simImage) shareOf(user int) int { return slices.Index(im.holder[:im.count], user+1) }

func (im *simImage) free() int { return slices.Index(im.holder[:im.count], 0) }

func (im *simImage) taken() (n int) {
	for _, h := range im.holder {
		if h != 0 {
			n++
		}
	}
	return n
}

func (im *simImage) grants() []Grant {
	var grants []Grant
	for share, h := range im.holder {
		if h != 0 {
			grants = append(grants, Grant{User: simUser(h - 1), Share: share})
		}
	}
	return grants
}

func (im *simImage) hasten(at time.Duration) { im.due = min(im.due, at) }

// Grab implements Pool. What other grabs of the instance wait for may be done by the same script call.
func (s *simPool) Grab(_ context.Context, attempts []Attempt) ([]Answer, error) {
	p := s.w.running
	own := &simAsk{attempt: attempts[0]}
	p.ask = own
	err := s.w.call(simRedis, func() {
		if own.done {
			return
		}
		asks := []*simAsk{own}
		for _, other := range s.w.procs {
			if other != p && other.instance == p.instance && other.ask != nil && !other.ask.done && s.w.gather > 0 && s.w.chance(s.w.gather) {
				asks = append(asks, other.ask)
			}
		}
		s.grabScript(&s.masters[s.side[p.instance]], asks)
	})
	p.ask = nil
	return []Answer{own.answer}, err
}

func (s *simPool) grabScript(m *simMaster, asks []*simAsk) {
	entry := simEntry{at: s.w.clock}
	waiting := 0
	for _, e := range m.outbox {
		waiting += len(e.claims)
	}
	for _, ask := range asks {
		ask.done = true
		ask.answer = s.judge(m, ask.attempt, waiting+len(entry.claims))
		if a := &ask.answer; a.Decision == Granted {
			im := m.image(ask.attempt.ID)
			im.holder[a.Share] = simIndex(ask.attempt.User) + 1
			if entry.id == "" {
				s.lastEntry++
				entry.id = simEntryID(s.lastEntry)
			}
			a.Entry = entry.id
			a.Taken++
			if a.Last = im.free() < 0; a.Last {
				im.hasten(s.w.clock + CloseLease)
			}
			entry.claims = append(entry.claims, Claim{Ref: ask.attempt.Ref, User: ask.attempt.User, Share: a.Share, Entry: entry.id})
			s.w.heard.granted[simIndex(ask.attempt.ID)][simIndex(ask.attempt.User)] = true
		}
		if s.w.trace != nil {
			s.w.note("redis: grab %s %s: %s", ask.attempt.User, ask.attempt.ID, simAnswer(ask.answer))
		}
	}
	if len(entry.claims) > 0 {
		m.outbox = append(m.outbox, entry)
	}
}

// judge says what an attempt gets.
func (s *simPool) judge(m *simMaster, a Attempt, waiting int) Answer {
	im := m.image(a.ID)
	if im == nil {
		return Answer{Decision: Missing}
	}
	ans := Answer{Taken: im.taken()}
	share := im.shareOf(simIndex(a.User))
	yours := share >= 0
	first := s.w.mutant&simStoredShareLast == 0
	free := im.free()
	switch {
	case yours && first:
		ans.Decision, ans.Share = Yours, share
	case a.May == NotMember:
		ans.Decision = Outsider
	case im.reason != Open:
		ans.Decision, ans.Reason = IsClosed, im.reason
	case s.w.clock >= im.deadline:
		ans.Decision = IsLate
	case free < 0:
		ans.Decision = IsEmpty
	case yours:
		ans.Decision, ans.Share = Yours, share
	case a.May == Denied:
		ans.Decision = IsDenied
	case waiting >= s.w.outboxCap:
		ans.Decision = Busy
	default:
		ans.Decision, ans.Share = Granted, free
	}
	return ans
}

// Load implements Pool.
func (s *simPool) Load(_ context.Context, i Image) error {
	side := s.w.running.instance
	return s.w.call(simRedis, func() {
		m := &s.masters[s.side[side]]
		im := &m.images[simIndex(i.ID)]
		if im.gen == 0 {
			*im = simImage{count: i.Count, deadline: i.Deadline.Sub(simTime(0)), reason: Open}
			im.due = im.deadline
		}
		im.gen = m.gen
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
		if im.reason == Open || s.w.mutant&simLoadReopens != 0 {
			im.reason = i.Status
		}
		if i.Status != Open {
			im.retired = true
		}
		if im.reason != Open || im.free() < 0 {
			im.hasten(s.w.clock + CloseLease)
		}
		if s.w.trace != nil {
			s.w.note("redis: load %s %s %v: now %s %v", i.ID, i.Status, i.Grants, im.reason, im.grants())
		}
	})
}

// Close implements Pool.
func (s *simPool) Close(_ context.Context, p Ref, cancel bool) (c Closing, err error) {
	side := s.w.running.instance
	err = s.w.call(simRedis, func() {
		c = s.closeScript(&s.masters[s.side[side]], p, cancel)
		if s.w.trace != nil {
			s.w.note("redis: close %s cancel=%t: %+v", p.ID, cancel, c)
		}
	})
	return c, err
}

func (s *simPool) closeScript(m *simMaster, p Ref, cancel bool) Closing {
	im := m.image(p.ID)
	if im == nil && s.w.mutant&simMissingIsEmpty != 0 {
		return Closing{Reason: Expired}
	}
	if im == nil {
		return Closing{Missing: true}
	}
	reason := Expired
	switch {
	case cancel:
		reason = Cancelled
	case im.free() < 0:
		reason = Drained
	}
	begun := im.reason != Open || s.w.clock >= min(im.deadline, im.due)
	if cancel && im.reason != Cancelled && (begun || im.taken() > 0) {
		return Closing{Refused: true, Reason: im.reason}
	}
	if im.reason == Open {
		im.reason = reason
	}
	im.due = s.w.clock + CloseLease
	if s.w.mutant&simDueDropped != 0 {
		im.retired = true
	}
	if s.w.mutant&simCloseForgets != 0 {
		return Closing{Reason: im.reason}
	}
	return Closing{Reason: im.reason, Grants: im.grants()}
}

// Retire implements Pool.
func (s *simPool) Retire(_ context.Context, p Ref) error {
	side := s.w.running.instance
	return s.w.call(simRedis, func() {
		im := &s.masters[s.side[side]].images[simIndex(p.ID)]
		im.retired = true
		if s.w.mutant&simRetireDeletes != 0 {
			*im = simImage{}
		}
		if s.w.trace != nil {
			s.w.note("redis: retire %s", p.ID)
		}
	})
}

// Ack implements Pool.
func (s *simPool) Ack(_ context.Context, claims []Claim) error {
	side := s.w.running.instance
	return s.w.call(simRedis, func() {
		m := &s.masters[s.side[side]]
		for _, c := range claims {
			m.ack(c)
		}
		if s.w.trace != nil {
			s.w.note("redis: ack %d claims", len(claims))
		}
	})
}

func (m *simMaster) ack(c Claim) {
	for i := range m.outbox {
		e := &m.outbox[i]
		if e.id != c.Entry {
			continue
		}
		e.claims = slices.DeleteFunc(e.claims, func(k Claim) bool { return k.Ref == c.Ref && k.User == c.User && k.Share == c.Share })
		if len(e.claims) == 0 {
			m.outbox = slices.Delete(m.outbox, i, i+1)
		}
		return
	}
}

// Due implements Pool.
func (s *simPool) Due(context.Context, int) (due []Ref, err error) {
	side := s.w.running.instance
	err = s.w.call(simRedis, func() {
		m := &s.masters[s.side[side]]
		for i := range m.images {
			if im := &m.images[i]; im.gen != 0 && !im.retired && im.due <= s.w.clock {
				due = append(due, simRef(i))
			}
		}
	})
	return due, err
}

// Unsettled implements Pool.
func (s *simPool) Unsettled(_ context.Context, age time.Duration, _ int) (claims []Claim, err error) {
	side := s.w.running.instance
	err = s.w.call(simRedis, func() {
		for _, e := range s.masters[s.side[side]].outbox {
			if e.at+age <= s.w.clock {
				claims = append(claims, e.claims...)
			}
		}
	})
	return claims, err
}
