package client

import (
	"context"
	"maps"

	"hongbao/web/client/model"
	"hongbao/web/wire"
)

// listing is a running read of the rooms that a connect reply has left out. Until all rooms are known, the feed holds back the
// event Connected and the events behind it.
type listing struct {
	stop   context.CancelFunc
	before map[string]*model.MyRoom // rooms known from before the connect that the server has not named since
}

// beginListingLocked stores what a connect reply has, and begins to read the other rooms. The server already pushes the entries
// of all rooms. The connect reply has the position of each, with which the SDK calls onSubscribed.
func (c *Client) beginListingLocked(l *link, data wire.ConnectData) {
	ctx, stop := context.WithCancel(c.ctx)
	list := &listing{stop: stop, before: c.rooms}
	c.rooms = make(map[string]*model.MyRoom, len(c.rooms))
	c.me, c.limits, c.states = data.User, data.Limits, model.StatesOf(data.PacketStates)
	c.startAccountLocked(data)
	c.feed.HoldConnected()
	for _, r := range data.Rooms {
		room := myRoomOf(r)
		c.rooms[r.ID] = &room
		delete(list.before, r.ID)
		c.feed.Enter(room.Room, c.wasConnected)
	}
	again := l.connected // if it is true, the SDK may hide that the user has left a room: see dial
	l.connected, c.listing, c.gone = true, list, make(chan struct{})
	c.wakeLocked()
	if err := c.startLocked(func() { c.list(ctx, l, list, data, again) }); err != nil {
		stop()
	}
}

// seenLocked records that the server has named a room that the connect reply may have left out. It returns what was known of
// the room before the connect.
func (l *listing) seenLocked(id string) (known model.MyRoom) {
	if before := l.before[id]; before != nil {
		known = *before
		delete(l.before, id)
	}
	return known
}

// endListingLocked ends a listing before all rooms are known.
func (c *Client) endListingLocked() {
	c.listing.stop()
	maps.Copy(c.rooms, c.listing.before)
	c.listing.before = nil
}

// list reads the rooms page by page, and then queues the event Connected with them, without rooms that the user has left meanwhile.
func (c *Client) list(ctx context.Context, l *link, list *listing, data wire.ConnectData, again bool) {
	defer list.stop()
	rooms := data.Rooms
	for next := data.RoomsNext; next != ""; {
		var page wire.RoomsReply
		if err := c.Call(ctx, "rooms", wire.RoomsRequest{Next: next, Limit: pageLimit}, &page); err != nil {
			c.o.Log.Warn("rooms", "error", err)
			break // if the server refuses the command, Connected has only the rooms that are known
		}
		rooms, next = append(rooms, page.Rooms...), page.Next
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if ctx.Err() != nil || c.listing != list || !c.isCurrent(l) || c.gone == nil {
		return // the connection is lost: the next connect reply begins anew
	}
	if again && len(list.before) > 0 {
		close(c.gone)
		c.gone = nil
		c.endListingLocked()
		c.dial(l)
		return
	}
	for id := range list.before {
		c.feed.Leave(id)
	}
	known := make([]model.MyRoom, 0, len(rooms))
	for _, r := range rooms {
		have := c.rooms[r.ID]
		if have == nil {
			continue // the user has left it meanwhile, or enters it with the next push
		}
		room := myRoomOf(r)
		room.LastSeq = max(room.LastSeq, have.LastSeq)
		known = append(known, room)
		*have = room
		c.feed.Describe(room.Room)
	}
	c.feed.AddConnected(model.Connected{Account: c.account, Rooms: known, Again: c.wasConnected})
	c.wasConnected, c.listing = true, nil
	c.wakeLocked()
}
