package client

import (
	"context"
	"iter"

	"hongbao/web/wire"
)

// pageLimit is the most that the server puts on a page.
const pageLimit = 100

// Page is a part of a room, ascending. Packets come with their State, texts as they read now.
type Page struct {
	Entries []Entry
	More    bool // there is more in the direction that was asked
}

// Newest reads the end of a room. limit is at most 100; 0: 50.
func (c *Client) Newest(ctx context.Context, room string, limit int) (Page, error) {
	return c.page(ctx, wire.HistoryRequest{Room: room, Limit: limit})
}

// Before reads what came right before a seq.
func (c *Client) Before(ctx context.Context, room string, seq int64, limit int) (Page, error) {
	return c.page(ctx, wire.HistoryRequest{Room: room, Before: &seq, Limit: limit})
}

// After reads what came right after a seq; 0 is the beginning.
func (c *Client) After(ctx context.Context, room string, seq int64, limit int) (Page, error) {
	return c.page(ctx, wire.HistoryRequest{Room: room, After: &seq, Limit: limit})
}

func (c *Client) page(ctx context.Context, r wire.HistoryRequest) (Page, error) {
	var reply wire.HistoryReply
	if err := c.Call(ctx, "history", r, &reply); err != nil {
		return Page{}, err
	}
	states := statesOf(reply.PacketStates)
	return Page{
		Entries: mapped(reply.Entries, func(e wire.Entry) Entry { return entryOf(r.Room, e, states) }),
		More:    reply.More,
	}, nil
}

// History goes through a room from after a seq to its end.
func (c *Client) History(ctx context.Context, room string, after int64) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for more := true; more; {
			page, err := c.After(ctx, room, after, pageLimit)
			if err != nil {
				yield(Entry{}, err)
				return
			}
			for _, e := range page.Entries {
				after = e.Seq
				if !yield(e, nil) {
					return
				}
			}
			more = page.More
		}
	}
}
