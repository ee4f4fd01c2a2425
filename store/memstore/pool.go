package memstore

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
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
		im.grant(a.User, &answers[i])
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
