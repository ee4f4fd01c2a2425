package memstore

import (
	"cmp"
	"container/heap"
	"iter"
	"time"

	"hongbao/redpacket"
)

// image finds a packet's image, if it is of this generation.
func (pt *partition) image(id string) *image {
	if im := pt.images[id]; im != nil && im.gen == pt.gen {
		return im
	}
	return nil
}

// reschedule sets the due date. A retired packet has none and never gets one again.
func (pt *partition) reschedule(im *image, at time.Time) {
	if !im.retired {
		im.at = at
		heap.Fix(&pt.due, im.place)
	}
}

// hasten makes the packet due at the given time if it were later.
func (pt *partition) hasten(im *image, at time.Time) {
	if at.Before(im.at) {
		pt.reschedule(im, at)
	}
}

// retire takes the packet out of the due index for ever and starts its last hour (again).
func (pt *partition) retire(im *image, now time.Time) {
	from := &pt.due
	if im.retired {
		from = &pt.retired
	}
	heap.Remove(from, im.place)
	im.retired = true
	im.at = now.Add(RetiredFor)
	pt.retired.push(im)
}

// Forget loses everything, as a flushed Redis does. Entry ids go on where they were, so that an Ack from
// before means nothing now.
func (p *Pool) Forget() {
	for i := range p.partitions {
		pt, _ := p.enter(uint(i))
		pt.images = map[string]*image{}
		pt.due, pt.retired = nil, nil
		pt.outbox.clear()
		pt.mu.Unlock()
	}
}

// ForgetPacket loses one packet, as an eviction does. What is in the outbox stays.
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
	heap.Remove(from, im.place)
}

// NewGeneration makes every image Missing until it is loaded again, as a failover does: what a new
// master holds may lack the last writes of the old one.
func (p *Pool) NewGeneration() {
	for i := range p.partitions {
		pt, _ := p.enter(uint(i))
		pt.gen++
		pt.mu.Unlock()
	}
}

// queue is a heap of images by their time.
type queue []*image

func (q *queue) push(im *image) { heap.Push(q, im) }

func (q *queue) pop() *image { return heap.Pop(q).(*image) }

// until gives the images whose time is not after t, in no particular order; its cost follows their number.
func (q queue) until(t time.Time) iter.Seq[*image] {
	return func(yield func(*image) bool) { q.walk(0, t, yield) }
}

// walk visits the subtree at i as far as it is not after t: no child is earlier than its parent.
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
	q[i].place, q[j].place = i, j
}

// Push implements heap.Interface.
func (q *queue) Push(x any) {
	im := x.(*image)
	im.place = len(*q)
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
