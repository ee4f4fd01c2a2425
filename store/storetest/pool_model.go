package storetest

import (
	"time"

	"hongbao/redpacket"
)

// packetModel is a second, simple implementation of the Pool's contract for one packet, without index or outbox.
// The test historiesAgree compares an engine with it.
type packetModel struct {
	loaded  bool
	stale   bool // of an older generation
	retired bool
	image   redpacket.Image // of the first load; the model uses its Count and Deadline
	reason  redpacket.Status
	users   map[string]int
	due     time.Time
}

func (m *packetModel) present() bool { return m.loaded && !m.stale }

// pick returns the share that the user gets now, or the count if there is none.
func (m *packetModel) pick(user string, now time.Time) int {
	taken := m.taken()
	if now.Before(m.image.Hold.Until) {
		for _, g := range m.image.Hold.For {
			if g.User == user && !taken[g.Share] {
				return g.Share
			}
			taken[g.Share] = true
		}
	}
	share := 0
	for taken[share] {
		share++
	}
	return share
}

func (m *packetModel) taken() map[int]bool {
	taken := map[int]bool{}
	for _, share := range m.users {
		taken[share] = true
	}
	return taken
}

// lowestFree returns the lowest free share, or the count if there is none.
func (m *packetModel) lowestFree() int {
	taken := m.taken()
	share := 0
	for taken[share] {
		share++
	}
	return share
}

func (m *packetModel) drained() bool { return m.lowestFree() == m.image.Count }

func (m *packetModel) closed() bool { return m.reason != redpacket.Open }

func (m *packetModel) grab(user string, may redpacket.May, now time.Time) redpacket.Answer {
	if !m.present() {
		return redpacket.Answer{Decision: redpacket.Missing}
	}
	if share, has := m.users[user]; has {
		return redpacket.Answer{Decision: redpacket.Yours, Share: share, Taken: len(m.users)}
	}
	taken := len(m.users)
	switch {
	case may == redpacket.NotMember:
		return redpacket.Answer{Decision: redpacket.Outsider, Taken: taken}
	case m.closed():
		return redpacket.Answer{Decision: redpacket.IsClosed, Reason: m.reason, Taken: taken}
	case now.Before(m.image.OpensAt):
		return redpacket.Answer{Decision: redpacket.NotYet, Taken: taken}
	case !now.Before(m.image.Deadline):
		return redpacket.Answer{Decision: redpacket.IsLate, Taken: taken}
	case m.drained():
		return redpacket.Answer{Decision: redpacket.IsEmpty, Taken: taken}
	case m.pick(user, now) == m.image.Count:
		return redpacket.Answer{Decision: redpacket.AllHeld, Taken: taken, Waiting: m.image.Count - taken}
	case may == redpacket.Denied:
		return redpacket.Answer{Decision: redpacket.IsDenied, Taken: taken}
	}
	share := m.pick(user, now)
	m.users[user] = share
	if m.drained() {
		m.hasten(now)
	}
	return redpacket.Answer{Decision: redpacket.Granted, Share: share, Taken: taken + 1, Last: m.drained()}
}

func (m *packetModel) hasten(now time.Time) {
	if lease := now.Add(redpacket.CloseLease); lease.Before(m.due) {
		m.due = lease
	}
}

func (m *packetModel) load(i redpacket.Image, now time.Time) {
	if !m.loaded {
		*m = packetModel{image: i, reason: redpacket.Open, due: i.Deadline}
	}
	m.loaded, m.stale = true, false
	held := m.users
	m.users = map[string]int{}
	taken := map[int]bool{}
	for _, g := range i.Grants {
		m.users[g.User], taken[g.Share] = g.Share, true
	}
	for user, share := range held {
		if _, has := m.users[user]; !has && !taken[share] {
			m.users[user] = share
		}
	}
	if i.Status != redpacket.Open {
		m.retired = true
		if !m.closed() {
			m.reason = i.Status
		}
	}
	if m.closed() || m.drained() {
		m.hasten(now)
	}
}

func (m *packetModel) close(why redpacket.CloseReason, now time.Time) redpacket.Closing {
	cancel := why == redpacket.CloseCancel
	switch {
	case !m.present():
		return redpacket.Closing{Missing: true}
	case m.closed() && cancel && m.reason != redpacket.Cancelled,
		!m.closed() && cancel && (len(m.users) > 0 || !now.Before(m.image.Deadline)):
		return redpacket.Closing{Refused: true, Reason: m.reason}
	case !m.closed() && why == redpacket.CloseDue && !m.drained() && now.Before(m.image.Deadline):
		m.due = m.image.Deadline
		return redpacket.Closing{Refused: true, Reason: redpacket.Open}
	case m.closed():
	case cancel:
		m.reason = redpacket.Cancelled
	case m.drained():
		m.reason = redpacket.Drained
	default:
		m.reason = redpacket.Expired
	}
	m.due = now.Add(redpacket.CloseLease)
	closing := redpacket.Closing{Reason: m.reason}
	for share := range m.image.Count {
		for user, has := range m.users {
			if has == share {
				closing.Grants = append(closing.Grants, redpacket.Grant{User: user, Share: share})
			}
		}
	}
	return closing
}
