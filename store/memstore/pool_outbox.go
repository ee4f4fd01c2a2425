package memstore

import (
	"container/list"
	"slices"
	"strconv"
	"time"

	"hongbao/redpacket"
)

// outbox remembers a partition's grants until they are settled. Its partition's lock guards it.
type outbox struct {
	prefix string // of entry ids: the partition
	seq    int    // of the last entry; never goes back
	held   int    // claims in all entries
	byID   map[string]*list.Element
	order  *list.List // of *entry, oldest first
}

// entry holds the winners of one packet in one call that are not acked yet.
type entry struct {
	redpacket.Ref
	id     string
	at     time.Time
	grants []redpacket.Grant
}

func newOutbox(partition int) outbox {
	return outbox{prefix: strconv.Itoa(partition) + "/", byID: map[string]*list.Element{}, order: list.New()}
}

// open starts an entry. Its first claim must be added before the lock is given back.
func (o *outbox) open(r redpacket.Ref, now time.Time) *entry {
	o.seq++
	e := &entry{Ref: r, id: o.prefix + strconv.Itoa(o.seq), at: now}
	o.byID[e.id] = o.order.PushBack(e)
	return e
}

func (o *outbox) add(e *entry, g redpacket.Grant) {
	e.grants = append(e.grants, g)
	o.held++
}

// ack forgets a claim, and its entry with the last one. What is not there was acked before.
func (o *outbox) ack(c *redpacket.Claim) {
	at, ok := o.byID[c.Entry]
	if !ok {
		return
	}
	e := at.Value.(*entry)
	i := slices.Index(e.grants, redpacket.Grant{User: c.User, Share: c.Share})
	if i < 0 || e.ID != c.ID {
		return
	}
	e.grants = slices.Delete(e.grants, i, i+1)
	o.held--
	if len(e.grants) == 0 {
		o.order.Remove(at)
		delete(o.byID, e.id)
	}
}

// until gives the first claims, at most limit, that were granted at t or before.
func (o *outbox) until(t time.Time, limit int) (claims []redpacket.Claim) {
	for at := o.order.Front(); at != nil; at = at.Next() {
		e := at.Value.(*entry)
		if e.at.After(t) {
			break
		}
		for _, g := range e.grants {
			if limit--; limit < 0 {
				return claims
			}
			claims = append(claims, redpacket.Claim{Ref: e.Ref, Share: g.Share, User: g.User, At: e.at, Entry: e.id})
		}
	}
	return claims
}

// clear loses everything but the place in the numbering.
func (o *outbox) clear() {
	o.held = 0
	clear(o.byID)
	o.order.Init()
}
