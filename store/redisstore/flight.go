package redisstore

import (
	"context"
	"runtime"
)

// run runs a flight, answers its asks, and gives the next one.
func (w *runway) run(f *flight) *flight {
	ctx := until(f.born.Add(patience))
	calls := w.pool.calls(f.asks)
	send(ctx, w.node.Load(), calls)
	rest := worthAnotherTry(calls, 0)
	later := make(chan struct{})
	postponed := postpone(rest, later)
	settle(calls)
	w.answered(f.size - postponed)
	close(f.done)
	if len(rest) > 0 {
		go w.runAgain(ctx, rest, later, postponed)
	}
	if len(f.asks) > 1 {
		// Who was answered may come back at once: then he flies with those who wait, and not after them, half each.
		for range 3 {
			runtime.Gosched()
		}
	}
	return w.land()
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

// settle answers the asks of all calls that are not postponed.
func settle(calls []*call) {
	for _, c := range calls {
		if !c.postponed {
			c.settle()
		}
	}
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
