package memstore

import (
	"cmp"
	"container/heap"
	"iter"
	"time"

	"hongbao/redpacket"
)

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

// retire removes the packet from the due index for ever. Its image expires RetiredFor after the last call.
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
