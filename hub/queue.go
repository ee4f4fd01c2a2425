package hub

// item is one queued frame. The bytes of a broadcast are shared by all its receivers and never change.
type item struct {
	frame []byte
	shed  bool // may be dropped when the queue is full
	late  bool // may wait for the clock
	reply bool // the client asked for it: does not count for the queue's bound
}

// batch is a queue's content. Batches are lent from a pool, so that an idle connection has none.
type batch struct{ items []item }

// enqueue queues a frame and sees to it that someone writes it.
func (c *Conn) enqueue(it item) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.enqueueLocked(it)
}

// enqueueLate is enqueue, but true: the caller sees to it that someone writes it.
func (c *Conn) enqueueLate(it item) (wake bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.queueLocked(it)
}

func (c *Conn) enqueueLocked(it item) {
	if c.queueLocked(it) {
		go c.flusher()
	}
}

// queueLocked queues a frame; true: nobody is there to write it.
func (c *Conn) queueLocked(it item) (wake bool) {
	if c.closing || !it.reply && !c.hasRoomLocked(it) {
		return false
	}
	c.count(it, 1)
	if c.holding && !isControl(it.frame) {
		c.push(&c.held, it)
		return false
	}
	c.push(&c.queue, it)
	if it.late && c.queued.Load() <= int64(c.hub.o.QueueBytes)/lateShare {
		c.hub.late.waitLocked(c)
		return false
	}
	return c.mustWakeLocked()
}

// count notes that a frame has come (1) or gone (-1).
func (c *Conn) count(it item, sign int64) {
	if it.reply {
		c.owed.Add(sign * int64(len(it.frame)))
		return
	}
	c.queued.Add(sign * int64(len(it.frame)))
}

// behindLocked tells whether the client is there and has not taken its replies.
func (c *Conn) behindLocked() bool { return !c.closing && c.owed.Load() > int64(c.hub.o.QueueBytes) }

// letGoLocked wakes those who wait in CatchUp, if there is nothing to wait for any more.
func (c *Conn) letGoLocked() {
	if c.caughtUp != nil && !c.behindLocked() {
		close(c.caughtUp)
		c.caughtUp = nil
	}
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
	if c.mustWakeLocked() {
		go c.flusher()
	}
}

// mustWakeLocked tells whether the caller is to start a flusher, which counts as started.
func (c *Conn) mustWakeLocked() bool {
	wake := c.queue != nil && !c.flushing
	c.flushing = c.flushing || wake
	return wake
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
	c.closeLocked(CloseSlow, "too slow")
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
			c.count(it, -1)
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
		c.count(it, -1)
	}
	*from = nil
	c.hub.pools.giveBatch(b)
}
