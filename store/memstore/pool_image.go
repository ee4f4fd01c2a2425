package memstore

import (
	"cmp"
	"container/heap"
	"iter"
	"slices"
	"time"

	"hongbao/redpacket"
)

// image is the state of one packet in the pool. Its partition's lock guards it.
type image struct {
	redpacket.Ref
	count    int
	deadline time.Time
	gen      int
	reason   redpacket.Status // Open until the packet is closed; then the reason of the first close
	users    map[string]int   // share by user
	free     []span           // ascending, none empty, no two adjacent

	retired bool      // SQL has closed the packet; then the image is in the partition's queue retired, otherwise in its queue due
	at      time.Time // due date; if retired, when the image expires
	index   int       // position in that queue
}

// span holds the shares [from, to).
type span struct{ from, to int }

func newImage(i redpacket.Image) *image {
	return &image{Ref: i.Ref, count: i.Count, deadline: i.Deadline, reason: redpacket.Open, at: i.Deadline}
}

func (im *image) closed() bool { return im.reason != redpacket.Open }

func (im *image) drained() bool { return len(im.free) == 0 }

// decide returns the answer to an attempt and changes nothing. Granted is final only if the outbox is not full.
func (im *image) decide(a *redpacket.Attempt, now time.Time) redpacket.Answer {
	ans := redpacket.Answer{Taken: len(im.users)}
	share, has := im.users[a.User]
	switch {
	case has:
		ans.Decision, ans.Share = redpacket.Yours, share
	case a.May == redpacket.NotMember:
		ans.Decision = redpacket.Outsider
	case im.closed():
		ans.Decision, ans.Reason = redpacket.IsClosed, im.reason
	case !now.Before(im.deadline):
		ans.Decision = redpacket.IsLate
	case im.drained():
		ans.Decision = redpacket.IsEmpty
	case a.May == redpacket.Denied:
		ans.Decision = redpacket.IsDenied
	default:
		ans.Decision = redpacket.Granted
	}
	return ans
}

// grant gives the lowest free share to a user whose attempt was decided as Granted.
func (im *image) grant(user string, ans *redpacket.Answer) {
	ans.Share = im.free[0].from
	if im.free[0].from++; im.free[0].from == im.free[0].to {
		im.free = im.free[1:]
	}
	im.users[user] = ans.Share
	ans.Taken = len(im.users)
	ans.Last = im.drained()
}

// merge takes over the grants in SQL. It drops a grant of the image if SQL has given the user another share, or the share
// to another user.
func (im *image) merge(grants []redpacket.Grant) {
	held := im.users
	im.users = make(map[string]int, max(len(grants), len(held)))
	taken := make(map[int]bool, max(len(grants), len(held)))
	take := func(user string, share int) {
		if _, has := im.users[user]; !has && !taken[share] && 0 <= share && share < im.count {
			im.users[user] = share
			taken[share] = true
		}
	}
	for _, g := range grants {
		take(g.User, g.Share)
	}
	for user, share := range held {
		take(user, share)
	}
	im.free = im.gaps()
}

// gaps returns the shares that no user has, as spans.
func (im *image) gaps() []span {
	var free []span
	next := 0
	for _, g := range im.grants() {
		if g.Share > next {
			free = append(free, span{next, g.Share})
		}
		next = g.Share + 1
	}
	if next < im.count {
		free = append(free, span{next, im.count})
	}
	return free
}

// grants returns all grants that no merge has contradicted, ordered by share.
func (im *image) grants() []redpacket.Grant {
	grants := make([]redpacket.Grant, 0, len(im.users))
	for user, share := range im.users {
		grants = append(grants, redpacket.Grant{User: user, Share: share})
	}
	slices.SortFunc(grants, func(a, b redpacket.Grant) int { return cmp.Compare(a.Share, b.Share) })
	return grants
}

func (im *image) close(reason redpacket.Status) {
	if !im.closed() {
		im.reason = reason
	}
}

// cancellable reports whether the packet can be cancelled now: no user has a share, it is open, and the deadline has
// not passed.
func (im *image) cancellable(now time.Time) bool {
	return len(im.users) == 0 && !im.closed() && now.Before(im.deadline)
}

// image returns a packet's image, or nil if there is none or it belongs to an earlier generation.
func (pt *partition) image(id string) *image {
	if im := pt.images[id]; im != nil && im.gen == pt.gen {
		return im
	}
	return nil
}

// reschedule sets the due date of a packet. It does nothing for a retired packet, which has none.
func (pt *partition) reschedule(im *image, at time.Time) {
	if !im.retired {
		im.at = at
		heap.Fix(&pt.due, im.index)
	}
}

// hasten makes the packet due at the given time, unless it is due earlier.
func (pt *partition) hasten(im *image, at time.Time) {
	if at.Before(im.at) {
		pt.reschedule(im, at)
	}
}

// retire removes the packet from the due index. Its image never returns there, and expires RetiredFor after the last call of retire.
func (pt *partition) retire(im *image, now time.Time) {
	from := &pt.due
	if im.retired {
		from = &pt.retired
	}
	heap.Remove(from, im.index)
	im.retired = true
	im.at = now.Add(RetiredFor)
	pt.retired.push(im)
}

// Forget deletes all data, as a flushed Redis does. The numbers of outbox entries go on, so an Ack of an earlier
// entry has no effect.
func (p *Pool) Forget() {
	for i := range p.partitions {
		pt, _ := p.enter(uint(i))
		pt.images = map[string]*image{}
		pt.due, pt.retired = nil, nil
		pt.outbox.clear()
		pt.mu.Unlock()
	}
}

// ForgetPacket deletes one packet's image, as an eviction does. Its claims stay in the outbox.
func (p *Pool) ForgetPacket(r redpacket.Ref) {
	pt, _ := p.enter(slot(r))
	defer pt.mu.Unlock()
	im := pt.images[r.ID]
	if im == nil {
		return
	}
	delete(pt.images, r.ID)
	from := &pt.due
	if im.retired {
		from = &pt.retired
	}
	heap.Remove(from, im.index)
}

// NewGeneration makes every image Missing until it is loaded again, as a failover of Redis does: a new master may
// lack the last writes of the old one.
func (p *Pool) NewGeneration() {
	for i := range p.partitions {
		pt, _ := p.enter(uint(i))
		pt.gen++
		pt.mu.Unlock()
	}
}

// queue is a heap of images, ordered by time.
type queue []*image

func (q *queue) push(im *image) { heap.Push(q, im) }

func (q *queue) pop() *image { return heap.Pop(q).(*image) }

// until yields the images whose time is not after t, in no particular order. Its cost depends only on their number.
func (q queue) until(t time.Time) iter.Seq[*image] {
	return func(yield func(*image) bool) { q.walk(0, t, yield) }
}

// walk visits the subtree at i up to time t: no child is earlier than its parent.
func (q queue) walk(i int, t time.Time, yield func(*image) bool) bool {
	if i >= len(q) || q[i].at.After(t) {
		return true
	}
	return yield(q[i]) && q.walk(2*i+1, t, yield) && q.walk(2*i+2, t, yield)
}

// Len implements heap.Interface.
func (q queue) Len() int { return len(q) }

// Less implements heap.Interface.
func (q queue) Less(i, j int) bool {
	return cmp.Or(q[i].at.Compare(q[j].at), cmp.Compare(q[i].ID, q[j].ID)) < 0
}

// Swap implements heap.Interface.
func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

// Push implements heap.Interface.
func (q *queue) Push(x any) {
	im := x.(*image)
	im.index = len(*q)
	*q = append(*q, im)
}

// Pop implements heap.Interface.
func (q *queue) Pop() any {
	last := len(*q) - 1
	im := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return im
}
