package client

import (
	"context"
	"iter"

	"hongbao/web/client/model"
	"hongbao/web/wire"
)

// pageLimit is the largest page that the server returns.
const pageLimit = 100

// Page is some consecutive entries of a room, in ascending order. Packets have their State, and texts are the current
// ones.
type Page struct {
	Entries []model.Entry
	More    bool // there are more entries in the direction of reading
}

// Newest reads the last entries of a room. limit is at most 100; 0 means 50.
func (c *Client) Newest(ctx context.Context, room string, limit int) (Page, error) {
	return c.page(ctx, wire.HistoryRequest{Room: room, Limit: limit})
}

// Before reads the entries directly before a seq. limit is as in Newest.
func (c *Client) Before(ctx context.Context, room string, seq int64, limit int) (Page, error) {
	return c.page(ctx, wire.HistoryRequest{Room: room, Before: &seq, Limit: limit})
}

// After reads the entries directly after a seq; 0 is the beginning of the room. limit is as in Newest.
func (c *Client) After(ctx context.Context, room string, seq int64, limit int) (Page, error) {
	return c.page(ctx, wire.HistoryRequest{Room: room, After: &seq, Limit: limit})
}

func (c *Client) page(ctx context.Context, r wire.HistoryRequest) (Page, error) {
	var reply wire.HistoryReply
	if err := c.Call(ctx, "history", r, &reply); err != nil {
		return Page{}, err
	}
	states := model.StatesOf(reply.PacketStates)
	return Page{
		Entries: mapped(reply.Entries, func(e wire.Entry) model.Entry { return model.EntryOf(r.Room, e, states) }),
		More:    reply.More,
	}, nil
}

// History iterates over the entries of a room after a seq, to the end of the room.
func (c *Client) History(ctx context.Context, room string, after int64) iter.Seq2[model.Entry, error] {
	return func(yield func(model.Entry, error) bool) {
		for more := true; more; {
			page, err := c.After(ctx, room, after, pageLimit)
			if err != nil {
				yield(model.Entry{}, err)
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

// mapped converts each element of a list.
func mapped[From, To any](list []From, convert func(From) To) []To {
	out := make([]To, len(list))
	for i, item := range list {
		out[i] = convert(item)
	}
	return out
}

func mentionOf(m wire.Mention) model.Entry { return model.EntryOf(m.Room, m.Entry, nil) }
