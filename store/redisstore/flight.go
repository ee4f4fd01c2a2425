package redisstore

import "context"

// run runs a flight, answers its asks, and gives the next one.
func (w *runway) run(f *flight) *flight {
	ctx := until(f.born.Add(patience))
	calls := w.pool.calls(f.asks)
	send(ctx, w.node.Load(), calls)
	next := w.land()

	rest := worthAnotherTry(calls, 0)
	postponed := 0
	if len(rest) > 0 {
		later := make(chan struct{})
		postponed = postpone(rest, later)
		go w.runAgain(ctx, rest, later, postponed)
	}
	dead := settle(calls)
	w.answered(f.size - postponed)
	close(f.done)
	if dead != nil && next != nil {
		w.giveUp(next, dead)
		next = w.land()
	}
	return next
}

// runAgain tries calls again, beside the flights: a slot on its way from node to node holds up nobody else's.
func (w *runway) runAgain(ctx context.Context, calls []*call, later chan struct{}, size int) {
	w.pool.nodes.again(ctx, calls)
	for _, c := range calls {
		c.settle()
	}
	w.answered(size)
	close(later)
}

// postpone has the asks of these calls wait for another channel, and tells their size.
func postpone(calls []*call, later chan struct{}) (size int) {
	for _, c := range calls {
		c.postponed = true
		for _, a := range c.asks {
			if a.later == nil {
				a.later = later
				size += a.size()
			}
		}
	}
	return size
}

// settle answers the asks of all calls that are not postponed. It tells if the node was silent.
func settle(calls []*call) (dead error) {
	for _, c := range calls {
		if c.postponed {
			continue
		}
		c.settle()
		if err := c.err(); err != nil && silent(err) {
			dead = err
		}
	}
	return dead
}

// settle hands the outcome to all who wait for it.
func (c *call) settle() {
	err := c.err()
	if err == nil {
		err = c.answer()
	}
	if err == nil {
		return
	}
	for _, a := range c.asks {
		if a.err == nil {
			a.err = err
		}
	}
}

// giveUp answers a flight that has not begun: its asks have waited for a silent node as long as they should.
func (w *runway) giveUp(f *flight, dead error) {
	for _, a := range f.asks {
		a.err = dead
	}
	w.answered(f.size)
	close(f.done)
}
