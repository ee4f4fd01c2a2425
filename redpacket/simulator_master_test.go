package redpacket

import (
	"slices"
	"time"
)

// simMaster is the data of one Redis master.
type simMaster struct {
	gen    int
	images [simMaxPackets]simImage
	outbox []simEntry
}

// simImage is a packet's image in a master. A zero generation means that the master has no image.
type simImage struct {
	gen      int
	count    int
	opens    time.Duration
	deadline time.Duration
	hold     Hold
	reason   Status
	holder   [simMaxShares]int // by share: the number of its user, plus 1; 0: free
	retired  bool
	due      time.Duration
}

// simEntry is an outbox entry: the grants of one script call that are not acked yet.
type simEntry struct {
	id     string
	at     time.Duration
	claims []Claim
}

func (s *simPool) reset() {
	*s = simPool{w: s.w, lastGen: 1}
	s.masters[0].gen = 1
}

// main returns the newest master.
func (s *simPool) main() *simMaster { return &s.masters[s.now] }

func (m *simMaster) clone() simMaster {
	c := *m
	c.outbox = slices.Clone(m.outbox)
	for i := range c.outbox {
		c.outbox[i].claims = slices.Clone(c.outbox[i].claims)
	}
	return c
}

// strike makes the fault of Redis that the event describes happen.
func (s *simPool) strike(e simEvent) {
	switch gen := s.main().gen; e.do {
	case simSnapshot:
		s.kept = s.main().clone()
	case simFlush:
		*s.main() = simMaster{gen: gen}
	case simRewind:
		*s.main() = s.kept.clone()
		s.main().gen = gen
	case simFailover:
		s.succeed(s.now, e.user == 1)
	case simSplit:
		s.heal()
		s.succeed(1-s.now, e.user == 1)
		s.now = 1 - s.now
		for i := range s.side {
			if e.instance&(1<<i) != 0 {
				s.side[i] = s.now
			}
		}
	case simHeal:
		s.heal()
	}
}

// succeed makes a new master of a new generation. It starts with all data of the newest master, or with those of its
// snapshot if lossy.
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

// heal connects all instances to the newest master.
func (s *simPool) heal() {
	for i := range s.side {
		s.side[i] = s.now
	}
}

// image returns the packet's image, if it is of this master's generation.
func (m *simMaster) image(id string) *simImage {
	if im := &m.images[simIndex(id)]; im.gen == m.gen {
		return im
	}
	return nil
}

// waiting returns the number of claims in the outbox.
func (m *simMaster) waiting() (n int) {
	for _, e := range m.outbox {
		n += len(e.claims)
	}
	return n
}

func (m *simMaster) ack(c Claim) {
	i := slices.IndexFunc(m.outbox, func(e simEntry) bool { return e.id == c.Entry })
	if i < 0 {
		return
	}
	e := &m.outbox[i]
	e.claims = slices.DeleteFunc(e.claims, func(k Claim) bool { return k.Ref == c.Ref && k.User == c.User && k.Share == c.Share })
	if len(e.claims) == 0 {
		m.outbox = slices.Delete(m.outbox, i, i+1)
	}
}

// shareOf returns the user's share in the image, or -1.
func (im *simImage) shareOf(user int) int { return slices.Index(im.holder[:im.count], user+1) }

// free returns the lowest free share in the image, or -1.
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
