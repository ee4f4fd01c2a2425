package hub

// item is one queued frame. The bytes of a broadcast are shared by all its receivers and never change.
type item struct {
	frame []byte
	shed  bool // may be dropped when the queue is full
}

// batch is a queue's content. Batches are lent from a pool, so that an idle connection has none.
type batch struct{ items []item }

// enqueue queues a frame and sees to it that someone writes it.
func (c *Conn) enqueue(it item) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.enqueueLocked(it)
}

func (c *Conn) enqueueLocked(it item) {
	if c.closing || !c.hasRoomLocked(it) {
		return
	}
	c.queued.Add(int64(len(it.frame)))
	if c.holding && !isControl(it.frame) {
		c.push(&c.held, it)
		return
	}
	c.push(&c.queue, it)
	c.wakeLocked()
}

// push appends to c.queue or c.held; nil there is an empty one.
func (c *Conn) push(to **batch, it item) {
	if *to == nil {
		*to = c.hub.pools.batches.Get().(*batch)
	}
	(*to).items = append((*to).items, it)
}

// wakeLocked starts a flusher if there is something to write and none at work.
func (c *Conn) wakeLocked() {
	if c.queue != nil && !c.flushing {
		c.flushing = true
		go c.flusher()
	}
}

// hasRoomLocked is the one place of the slow-consumer policy: over the bound first what may be shed goes, then the
// connection. An empty queue takes a frame of any size.
func (c *Conn) hasRoomLocked(it item) bool {
	limit := int64(c.hub.o.QueueBytes)
	size := int64(len(it.frame))
	if queued := c.queued.Load(); queued == 0 || queued+size <= limit {
		return true
	}
	if it.shed {
		c.hub.counts.shed.Add(1)
		return false
	}
	c.shedLocked(&c.queue)
	c.shedLocked(&c.held)
	if c.queued.Load()+size <= limit {
		return true
	}
	c.hub.counts.slow.Add(1)
	c.dropLocked(&c.queue)
	c.closeLocked(CloseSlow, "slow")
	return false
}

// shedLocked drops all that may be shed from a batch.
func (c *Conn) shedLocked(from **batch) {
	b := *from
	if b == nil {
		return
	}
	kept := b.items[:0]
	for _, it := range b.items {
		if it.shed {
			c.queued.Add(-int64(len(it.frame)))
			c.hub.counts.shed.Add(1)
			continue
		}
		kept = append(kept, it)
	}
	clear(b.items[len(kept):])
	b.items = kept
	if len(kept) == 0 {
		c.dropLocked(from)
	}
}

// dropLocked forgets a whole batch.
func (c *Conn) dropLocked(from **batch) {
	b := *from
	if b == nil {
		return
	}
	for _, it := range b.items {
		c.queued.Add(-int64(len(it.frame)))
	}
	*from = nil
	c.hub.pools.giveBatch(b)
}
