package memstore

import (
	"cmp"
	"container/heap"
	"container/list"
	"context"
	"iter"
	"math/bits"
	"slices"
	"strconv"
	"sync"
	"time"

	"hongbao/redpacket"
)

// RetiredFor is how long the image of a packet is kept, and still answers, after SQL has closed the packet.
const RetiredFor = time.Hour

// Options are the options of a Pool.
type Options struct {
	Now       func() time.Time // the Pool's clock; default time.Now
	OutboxCap int              // most claims in the outbox of one partition; default 10,000
}

// Pool implements redpacket.Pool in memory.
type Pool struct {
	// immutable after NewPool
	now        func() time.Time
	outboxCap  int
	partitions [redpacket.Partitions]partition
}

var _ redpacket.Pool = (*Pool)(nil)

// partition holds the packets of one partition, and their outbox.
type partition struct {
	mu sync.Mutex
	// guarded by mu
	gen     int // images of another generation are Missing until they are loaded again
	images  map[string]*image
	due     queue // images that are not retired, by due date
	retired queue // retired images, by expiry
	outbox  outbox
}

// NewPool returns an empty pool.
func NewPool(o Options) *Pool {
	p := &Pool{now: time.Now, outboxCap: cmp.Or(o.OutboxCap, 10_000)}
	if o.Now != nil {
		p.now = o.Now
	}
	for i := range p.partitions {
		p.partitions[i].images = map[string]*image{}
		p.partitions[i].outbox = newOutbox(i)
	}
	return p
}

// slot returns the index of the packet's partition. A number out of range, which no valid ledger holds, is taken modulo
// Partitions, so that it causes no panic.
func slot(r redpacket.Ref) uint { return uint(r.Partition) % redpacket.Partitions }

// enter locks a partition, drops its expired images and returns the time. It reads the clock under the lock, so that a
// later call on the partition never sees an earlier time. The caller must unlock the partition.
func (p *Pool) enter(slot uint) (*partition, time.Time) {
	pt := &p.partitions[slot]
	pt.mu.Lock()
	now := p.now()
	for len(pt.retired) > 0 && !pt.retired[0].at.After(now) {
		delete(pt.images, pt.retired.pop().ID)
	}
	return pt, now
}

// Grab implements redpacket.Pool.
func (p *Pool) Grab(_ context.Context, attempts []redpacket.Attempt) ([]redpacket.Answer, error) {
	answers := make([]redpacket.Answer, len(attempts))
	var touched uint64 // one bit for each partition
	for i := range attempts {
		touched |= 1 << slot(attempts[i].Ref)
	}
	for ; touched != 0; touched &= touched - 1 {
		p.grab(uint(bits.TrailingZeros64(touched)), attempts, answers)
	}
	return answers, nil
}

// grab answers the attempts of one partition under one lock. So no other call sees an outbox entry that is
// incomplete.
func (p *Pool) grab(at uint, attempts []redpacket.Attempt, answers []redpacket.Answer) {
	pt, now := p.enter(at)
	defer pt.mu.Unlock()
	written := map[string]*entry{} // entries of this call, by packet
	for i := range attempts {
		a := &attempts[i]
		if slot(a.Ref) != at {
			continue
		}
		im := pt.image(a.ID)
		if im == nil {
			continue // the answer is Missing
		}
		answers[i] = im.decide(a, now)
		if answers[i].Decision != redpacket.Granted {
			continue
		}
		if pt.outbox.held >= p.outboxCap {
			answers[i].Decision = redpacket.Busy
			continue
		}
		e := written[a.ID]
		if e == nil {
			e = pt.outbox.open(im.Ref, now)
			written[a.ID] = e
		}
		im.grant(a.User, now, &answers[i])
		answers[i].Entry = e.id
		pt.outbox.add(e, redpacket.Grant{User: a.User, Share: answers[i].Share})
		if answers[i].Last {
			pt.hasten(im, now.Add(redpacket.CloseLease))
		}
	}
}

// Load implements redpacket.Pool.
func (p *Pool) Load(_ context.Context, i redpacket.Image) error {
	pt, now := p.enter(slot(i.Ref))
	defer pt.mu.Unlock()
	im := pt.images[i.ID]
	if im == nil {
		im = newImage(i)
		pt.images[i.ID] = im
		pt.due.push(im)
	}
	im.gen = pt.gen
	im.merge(i.Grants)
	if i.Status != redpacket.Open {
		im.close(i.Status)
		pt.retire(im, now)
	}
	if im.closed() || im.drained() {
		pt.hasten(im, now.Add(redpacket.CloseLease))
	}
	return nil
}

// Close implements redpacket.Pool.
func (p *Pool) Close(_ context.Context, r redpacket.Ref, reason redpacket.CloseReason) (redpacket.Closing, error) {
	cancel := reason == redpacket.CloseCancel
	pt, now := p.enter(slot(r))
	defer pt.mu.Unlock()
	im := pt.image(r.ID)
	switch {
	case im == nil:
		return redpacket.Closing{Missing: true}, nil
	case !cancel && im.drained():
		im.close(redpacket.Drained)
	case reason == redpacket.CloseDue && !im.closed() && now.Before(im.deadline):
		pt.reschedule(im, im.deadline)
		return redpacket.Closing{Refused: true, Reason: redpacket.Open}, nil
	case !cancel:
		im.close(redpacket.Expired)
	case im.cancellable(now):
		im.close(redpacket.Cancelled)
	case im.reason != redpacket.Cancelled: // a repeated cancel gets the same answer
		return redpacket.Closing{Refused: true, Reason: im.reason}, nil
	}
	pt.reschedule(im, now.Add(redpacket.CloseLease))
	return redpacket.Closing{Reason: im.reason, Grants: im.grants()}, nil
}

// Ack implements redpacket.Pool.
func (p *Pool) Ack(_ context.Context, claims []redpacket.Claim) error {
	for i := range claims {
		pt, _ := p.enter(slot(claims[i].Ref))
		pt.outbox.ack(&claims[i])
		pt.mu.Unlock()
	}
	return nil
}

// Due implements redpacket.Pool.
func (p *Pool) Due(_ context.Context, limit int) ([]redpacket.Ref, error) {
	type dated struct {
		ref redpacket.Ref
		at  time.Time
	}
	compare := func(a, b dated) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.ref.ID, b.ref.ID)) }
	var found [redpacket.Partitions][]dated
	for i := range p.partitions {
		pt, now := p.enter(uint(i))
		for im := range pt.due.until(now) {
			found[i] = append(found[i], dated{im.Ref, im.at})
		}
		pt.mu.Unlock()
		slices.SortFunc(found[i], compare)
	}
	var refs []redpacket.Ref
	for _, due := range redpacket.Fairly(found, limit, compare) {
		refs = append(refs, due.ref)
	}
	return refs, nil
}

// Unsettled implements redpacket.Pool.
func (p *Pool) Unsettled(_ context.Context, age time.Duration, from *redpacket.OutboxCursor, limit int) (claims []redpacket.Claim, err error) {
	portion := from.Portion(limit)
	for i := range from {
		if from[i].Done {
			continue
		}
		pt, now := p.enter(uint(i))
		claims = append(claims, pt.outbox.page(&from[i], now.Add(-age), portion)...)
		pt.mu.Unlock()
	}
	slices.SortStableFunc(claims, func(a, b redpacket.Claim) int { return a.At.Compare(b.At) })
	return claims, nil
}

// Recount implements redpacket.Pool. The count of claims cannot be wrong, because only this process changes it.
func (p *Pool) Recount(context.Context, ...int) error { return nil }

// Outbox implements redpacket.Pool.
func (p *Pool) Outbox(context.Context) (claims int, oldest time.Time, err error) {
	for i := range p.partitions {
		pt, _ := p.enter(uint(i))
		claims += pt.outbox.held
		if first := pt.outbox.order.Front(); first != nil {
			if at := first.Value.(*entry).at; oldest.IsZero() || at.Before(oldest) {
				oldest = at
			}
		}
		pt.mu.Unlock()
	}
	return claims, oldest, nil
}

// image is the state of one packet in the pool. Its partition's lock guards it.
type image struct {
	redpacket.Ref
	count    int
	opensAt  time.Time
	deadline time.Time
	hold     redpacket.Hold
	kept     map[int]bool // the shares that hold has
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
	im := &image{Ref: i.Ref, count: i.Count, opensAt: i.OpensAt, deadline: i.Deadline, hold: i.Hold, reason: redpacket.Open, at: i.Deadline}
	if len(i.Hold.For) > 0 {
		im.kept = make(map[int]bool, len(i.Hold.For))
	}
	for _, g := range i.Hold.For {
		im.kept[g.Share] = true
	}
	return im
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
	case now.Before(im.opensAt):
		ans.Decision = redpacket.NotYet
	case !now.Before(im.deadline):
		ans.Decision = redpacket.IsLate
	case im.drained():
		ans.Decision = redpacket.IsEmpty
	case im.pick(a.User, now) < 0:
		ans.Decision, ans.Waiting = redpacket.AllHeld, im.count-len(im.users)
	case a.May == redpacket.Denied:
		ans.Decision = redpacket.IsDenied
	default:
		ans.Decision = redpacket.Granted
	}
	return ans
}

// pick returns the share for the user: the one that is held for the user, or the lowest that is free and not held; -1 if all free ones are
// held for other users. It reads at most each free span and each held share.
func (im *image) pick(user string, now time.Time) int {
	if !im.hold.Active(now) {
		return im.free[0].from
	}
	if own := im.hold.ShareOf(user); own >= 0 && slices.ContainsFunc(im.free, func(s span) bool { return s.from <= own && own < s.to }) {
		return own
	}
	for _, s := range im.free {
		for share := s.from; share < s.to; share++ {
			if !im.kept[share] {
				return share
			}
		}
	}
	return -1
}

// grant gives the picked share to a user whose attempt was decided as Granted.
func (im *image) grant(user string, now time.Time, ans *redpacket.Answer) {
	ans.Share = im.pick(user, now)
	at := slices.IndexFunc(im.free, func(s span) bool { return ans.Share < s.to })
	rest := slices.DeleteFunc([]span{{im.free[at].from, ans.Share}, {ans.Share + 1, im.free[at].to}}, func(s span) bool { return s.from == s.to })
	im.free = slices.Replace(im.free, at, at+1, rest...)
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

// Clocks implements redpacket.Pool. It returns no clock, because the Pool uses the clock of this process.
func (p *Pool) Clocks(context.Context, func() time.Time) ([]redpacket.ClockDifference, error) {
	return nil, nil
}
