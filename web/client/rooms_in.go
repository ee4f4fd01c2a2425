package client

import (
	"cmp"
	"encoding/json"

	"github.com/centrifugal/centrifuge-go"

	"hongbao/web/client/model"
	"hongbao/web/wire"
)

// Rooms returns the rooms that the user is in now, in no particular order.
func (c *Client) Rooms() []model.MyRoom {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := make([]model.MyRoom, 0, len(c.rooms))
	for _, r := range c.rooms {
		list = append(list, *r)
	}
	return list
}

// onConnected takes the user and the rooms from the connect reply. The SDK reports missed entries afterwards, room by
// room.
func (c *Client) onConnected(l *link, e centrifuge.ConnectedEvent) {
	var data wire.ConnectData
	err := json.Unmarshal(e.Data, &data)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.isCurrent(l) {
		return
	}
	if err != nil {
		c.endLocked(&CloseError{Code: wire.CloseProtocolError, Reason: "the server is of another kind: " + err.Error()})
		return
	}
	if c.listing != nil {
		c.endListingLocked() // the connection was lost before all rooms were listed
	}
	if data.RoomsNext != "" {
		c.beginListingLocked(l, data)
		return
	}
	in := make(map[string]*model.MyRoom, len(data.Rooms))
	for _, r := range data.Rooms {
		room := myRoomOf(r)
		in[r.ID] = &room
	}
	if l.connected && c.leftAny(in) {
		c.dial(l)
		return
	}
	c.me, c.limits, c.states = data.User, data.Limits, model.StatesOf(data.PacketStates)
	c.startAccountLocked(data)
	c.feed.AddConnected(model.Connected{Account: c.account, Rooms: mapped(data.Rooms, func(r wire.MyRoom) model.MyRoom { return *in[r.ID] }), Again: c.wasConnected})
	for id := range c.rooms {
		if in[id] == nil {
			c.feed.Leave(id)
		}
	}
	for _, r := range in {
		c.feed.Enter(r.Room, c.wasConnected)
	}
	c.rooms, l.connected, c.wasConnected, c.listing, c.gone = in, true, true, nil, make(chan struct{})
	c.wakeLocked()
}

func myRoomOf(r wire.MyRoom) model.MyRoom {
	return model.MyRoom{Room: model.RoomOf(r.Room), ReadSeq: r.ReadSeq, Unread: r.Unread}
}

// leftAny reports whether the user, while offline, has left a room that the client still has.
func (c *Client) leftAny(in map[string]*model.MyRoom) bool {
	for id := range c.rooms {
		if in[id] == nil {
			return true
		}
	}
	return false
}

// onSubscribed begins a room's pushed entries: after a connect, or when the user has entered the room.
func (c *Client) onSubscribed(l *link, e centrifuge.ServerSubscribedEvent) {
	id, ok := wire.ChannelRoom(e.Channel)
	if !ok || e.StreamPosition == nil {
		return
	}
	position := int64(e.StreamPosition.Offset)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.isCurrent(l) || c.gone == nil {
		return
	}
	if c.rooms[id] == nil {
		c.enterLocked(id, position, e.Data)
	}
	c.feed.Reach(id, e.StreamPosition.Epoch, position, e.WasRecovering && e.Recovered)
	c.wakeLocked()
}

// enterLocked adds a room that the user has entered, or a room that a connect reply has left out. Of the latter only the id is
// known, and what was known before the connect.
func (c *Client) enterLocked(id string, position int64, data []byte) {
	var joined wire.Joined
	_ = json.Unmarshal(data, &joined) // on an error only the room's id is known
	announce := true
	room := model.MyRoom{ReadSeq: position}
	if joined.Room.ID == "" && c.listing != nil {
		announce = c.wasConnected
		room = c.listing.seenLocked(id)
	}
	if room.Kind == "" {
		room.Room = model.RoomOf(joined.Room)
	}
	room.ID, room.LastSeq = id, position
	c.rooms[id] = &room
	c.feed.Enter(room.Room, announce)
}

func (c *Client) onUnsubscribed(l *link, e centrifuge.ServerUnsubscribedEvent) {
	id, ok := wire.ChannelRoom(e.Channel)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !ok || !c.isCurrent(l) {
		return
	}
	delete(c.rooms, id)
	c.feed.Leave(id)
	c.wakeLocked()
}

func (c *Client) onPublication(l *link, e centrifuge.ServerPublicationEvent) {
	id, ok := wire.ChannelRoom(e.Channel)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.isCurrent(l) {
		return
	}
	entry := model.PublicationOf(id, int64(e.Offset), e.Data, c.states)
	if r := c.rooms[id]; r != nil {
		r.LastSeq = max(r.LastSeq, entry.Seq)
		applyToRoom(r, entry.Body, c.me.ID)
	}
	c.feed.Push(entry)
	c.wakeLocked()
}

// applyToRoom applies an entry's changes to the room itself: name, announcement, settings and the user's own role.
func applyToRoom(r *model.MyRoom, body model.Body, me string) {
	switch b := body.(type) {
	case model.RoomChanged:
		if b.Name != nil {
			r.Name = *b.Name
		}
		if b.Announcement != nil {
			r.Announcement = *b.Announcement
		}
		r.Invite = cmp.Or(b.Invite, r.Invite)
		if b.Frozen != nil {
			r.Frozen = *b.Frozen
		}
		if b.Guests != nil {
			r.Guests = *b.Guests
		}
		if b.Packets != nil {
			r.Packets = *b.Packets
		}
	case model.MemberChanged:
		if b.Change == "role" && b.User == me {
			r.Role = b.Role
		}
	}
}

// applyLocked updates the account and the rooms from an event, and passes the result of a grab to the calls of Grab that wait for
// it. It adds to the event what only the client knows.
func (c *Client) applyLocked(event *model.Event) {
	switch e := (*event).(type) {
	case model.Wallet:
		c.updateAccountLocked(accountUpdate{&e.Account.Balance, e.Account.NextCommitment, e.Account.Version})
		e.Account = c.account
		*event = e
	case model.MemberCount:
		if r := c.rooms[e.Room]; r != nil {
			r.Members = e.Count
		}
	case model.RoomPrefs:
		if r := c.rooms[e.Room]; r != nil {
			r.Silent, r.SilentUntil, r.Pinned, r.Archived = e.Silent, e.SilentUntil, e.Pinned, e.Archived
		}
	case model.Read:
		if r := c.rooms[e.Room]; r != nil && e.User == c.me.ID {
			r.ReadSeq = max(r.ReadSeq, e.Seq)
		}
	}
}
