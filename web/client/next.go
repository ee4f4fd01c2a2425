package client

import (
	"context"
	"errors"
	"iter"
)

// Events gives what happens, from the client's beginning, one loop at a time. It ends with an error when the
// client has ended or the context is done. Leaving the loop loses nothing: the next one goes on. Any call
// may be made in the loop.
func (c *Client) Events(ctx context.Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for {
			e, err := c.Next(ctx)
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// Next waits for the next event: one step of Events.
func (c *Client) Next(ctx context.Context) (Event, error) {
	for {
		e, changed, err := c.take()
		if e != nil || err != nil {
			return e, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// take gives the next event if there is one; else a channel that says when to look again. What had come before
// the server ended the client is given first.
func (c *Client) take() (Event, <-chan struct{}, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if errors.Is(c.err, ErrClosed) {
		return nil, nil, c.err
	}
	e := c.feed.take()
	if e == nil && c.err != nil {
		return nil, nil, c.err
	}
	if len(c.feed.holes) > 0 && !c.reading {
		c.reading = c.startLocked(c.readHistory) == nil
	}
	return e, c.changed, nil
}

// readHistory fills holes, a page each, until none waits. Meanwhile other events are given.
func (c *Client) readHistory() {
	for {
		c.mu.Lock()
		s, missing := c.feed.nextHole()
		if s == nil {
			c.reading = false
			c.mu.Unlock()
			return
		}
		c.mu.Unlock()

		page, err := c.After(c.ctx, s.room, missing.after, int(min(missing.through-missing.after, pageLimit)))
		if c.ctx.Err() != nil {
			return
		}
		if err != nil { // nothing is got by waiting: not a member any more
			c.o.Log.Warn("history", "room", s.room, "error", err)
		}
		c.mu.Lock()
		c.feed.filled(s, missing, page.Entries)
		c.wakeLocked()
		c.mu.Unlock()
	}
}
