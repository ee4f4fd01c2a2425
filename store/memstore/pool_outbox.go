package memstore

import (
	"container/list"
	"slices"
	"strconv"
	"time"

	"hongbao/redpacket"
)

// outbox holds a partition's grants until they are acked. The lock of the partition guards it.
type outbox struct {
	prefix string // of entry ids: the partition
	seq    int    // number of the last entry; never decreases
	held   int    // claims in all entries
	byID   map[string]*list.Element
	order  *list.List // of *entry, oldest first
}

// entry holds those grants of one call on one packet that are not acked yet.
type entry struct {
	redpacket.Ref
	id     string
	seq    int
	at     time.Time
	grants []redpacket.Grant
}

func newOutbox(partition int) outbox {
	return outbox{prefix: strconv.Itoa(partition) + "/", byID: map[string]*list.Element{}, order: list.New()}
}

// open adds an entry. The caller must add its first claim before it unlocks the partition.
func (o *outbox) open(r redpacket.Ref, now time.Time) *entry {
	o.seq++
	e := &entry{Ref: r, id: o.prefix + strconv.Itoa(o.seq), seq: o.seq, at: now}
	o.byID[e.id] = o.order.PushBack(e)
	return e
}

func (o *outbox) add(e *entry, g redpacket.Grant) {
	e.grants = append(e.grants, g)
	o.held++
}

// ack removes a claim, and its entry if that was the last claim in it. A claim that is not there is ignored: it was acked before, or
// clear has deleted it.
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

// page returns the claims of the next entries after the mark that were granted at t or before, and moves the mark. It
// returns at least limit claims if there are so many, because entries are not split.
func (o *outbox) page(mark *redpacket.OutboxMark, t time.Time, limit int) (claims []redpacket.Claim) {
	after, _ := strconv.Atoi(mark.After) // 0 if there is no mark yet
	for at := o.order.Front(); at != nil; at = at.Next() {
		e := at.Value.(*entry)
		switch {
		case e.seq <= after:
			continue
		case e.at.After(t):
			mark.Done = true
			return claims
		case len(claims) >= limit:
			return claims
		}
		for _, g := range e.grants {
			claims = append(claims, redpacket.Claim{Ref: e.Ref, Share: g.Share, User: g.User, At: e.at, Entry: e.id})
		}
		mark.After = strconv.Itoa(e.seq)
	}
	mark.Done = true
	return claims
}

// clear deletes all entries, but keeps the last number.
func (o *outbox) clear() {
	o.held = 0
	clear(o.byID)
	o.order.Init()
}
