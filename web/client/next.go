package client

import (
	"context"
	"errors"
	"iter"

	"hongbao/web/client/model"
)

// Events iterates over the events since New. Only one loop may run at a time. The loop ends with an error when the client has ended
// or ctx is done. Leaving the loop loses no event: the next loop continues. Any method of the client may be called inside the loop.
// If the program is slow, the oldest events that belong to no room are dropped.
func (c *Client) Events(ctx context.Context) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		for {
			e, err := c.Next(ctx)
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// Next waits for the next event. It is one step of Events.
func (c *Client) Next(ctx context.Context) (model.Event, error) {
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

// take returns the next event, or a channel that is closed when there may be one. If the server has ended the client, take first
// returns the events from before the end, then the error. After Close it returns no event.
func (c *Client) take() (model.Event, <-chan struct{}, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if errors.Is(c.err, ErrClosed) {
		return nil, nil, c.err
	}
	e := c.feed.Take()
	c.seedMismatchLocked(e)
	if e == nil && c.err != nil {
		return nil, nil, c.err
	}
	if c.feed.Misses() && !c.reading {
		c.reading = c.startLocked(c.readHistory) == nil
	}
	return e, c.changed, nil
}

// readHistory reads missing entries, one page for each stay in turn, until no stay misses any. Meanwhile Next still returns other
// events.
func (c *Client) readHistory() {
	for {
		c.mu.Lock()
		missing, ok := c.feed.NextMissing()
		if !ok {
			c.reading = false
			c.mu.Unlock()
			return
		}
		c.mu.Unlock()

		page, err := c.After(c.ctx, missing.Room, missing.After, int(min(missing.Through-missing.After, pageLimit)))
		if c.ctx.Err() != nil {
			return
		}
		if err != nil { // not retried: for example, the user is not a member any more
			c.o.Log.Warn("history", "room", missing.Room, "error", err)
		}
		c.mu.Lock()
		c.feed.HistoryRead(missing, page.Entries)
		c.wakeLocked()
		c.mu.Unlock()
	}
}
