package client

import (
	"encoding/json"

	"github.com/centrifugal/centrifuge-go"

	"hongbao/web/wire"
)

// Rooms are those that one is in now, in no order.
func (c *Client) Rooms() []MyRoom {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := make([]MyRoom, 0, len(c.rooms))
	for _, r := range c.rooms {
		list = append(list, *r)
	}
	return list
}

// onConnected takes the connect reply for the truth about who one is and where. Missed entries follow, room by room.
func (c *Client) onConnected(l *link, e centrifuge.ConnectedEvent) {
	var data wire.ConnectData
	err := json.Unmarshal(e.Data, &data)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.heeds(l) {
		return
	}
	if err != nil {
		c.endLocked(&CloseError{Code: wire.CloseProtocolError, Reason: "the server is of another kind: " + err.Error()})
		return
	}
	in := make(map[string]*MyRoom, len(data.Rooms))
	for _, r := range data.Rooms {
		in[r.ID] = &MyRoom{Room: roomOf(r.Room), ReadSeq: r.ReadSeq, Unread: r.Unread}
	}
	if l.connected && c.anyGone(in) {
		c.dial(l)
		return
	}
	c.me, c.limits, c.states = data.User, data.Limits, statesOf(data.PacketStates)
	c.account = Account{Balance: data.Balance, Currency: data.Currency, NextCommitment: data.NextCommitment}
	c.feed.tell(Connected{Account: c.account, Rooms: mapped(data.Rooms, func(r wire.MyRoom) MyRoom { return *in[r.ID] }), Again: c.ever})
	for id := range c.rooms {
		if in[id] == nil {
			c.feed.leave(id)
		}
	}
	for _, r := range in {
		c.feed.enter(r.Room, c.ever)
	}
	c.rooms, l.connected, c.ever, c.gone = in, true, true, make(chan struct{})
	c.wakeLocked()
}

// anyGone tells whether one is not in a room any more that one was in.
func (c *Client) anyGone(in map[string]*MyRoom) bool {
	for id := range c.rooms {
		if in[id] == nil {
			return true
		}
	}
	return false
}

// onSubscribed says from where on a room is live: after a connect, or because one has come in.
func (c *Client) onSubscribed(l *link, e centrifuge.ServerSubscribedEvent) {
	id, ok := wire.ChannelRoom(e.Channel)
	if !ok || e.StreamPosition == nil {
		return
	}
	position := int64(e.StreamPosition.Offset)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.heeds(l) || c.gone == nil {
		return
	}
	if c.rooms[id] == nil {
		var joined wire.Joined
		_ = json.Unmarshal(e.Data, &joined) // then there is only the id
		joined.Room.ID, joined.Room.LastSeq = id, position
		c.rooms[id] = &MyRoom{Room: roomOf(joined.Room), ReadSeq: position}
		c.feed.enter(c.rooms[id].Room, true)
	}
	c.feed.reach(id, e.StreamPosition.Epoch, position, e.WasRecovering && e.Recovered)
	c.wakeLocked()
}

func (c *Client) onUnsubscribed(l *link, e centrifuge.ServerUnsubscribedEvent) {
	id, ok := wire.ChannelRoom(e.Channel)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !ok || !c.heeds(l) {
		return
	}
	delete(c.rooms, id)
	c.feed.leave(id)
	c.wakeLocked()
}

func (c *Client) onPublication(l *link, e centrifuge.ServerPublicationEvent) {
	id, ok := wire.ChannelRoom(e.Channel)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.heeds(l) {
		return
	}
	entry := publicationOf(id, int64(e.Offset), e.Data, c.states)
	if r := c.rooms[id]; r != nil {
		r.LastSeq = max(r.LastSeq, entry.Seq)
		r.note(entry.Body, c.me.ID)
	}
	c.feed.push(entry)
	c.wakeLocked()
}

// note changes what an entry says about the room itself.
func (r *MyRoom) note(body Body, me string) {
	switch b := body.(type) {
	case RoomChanged:
		if b.Name != nil {
			r.Name = *b.Name
		}
		if b.Announcement != nil {
			r.Announcement = *b.Announcement
		}
	case MemberChanged:
		if b.Change == "role" && b.User == me {
			r.Role = b.Role
		}
	}
}

// noteLocked keeps what an event says about oneself and one's rooms, and completes it.
func (c *Client) noteLocked(event *Event) {
	switch e := (*event).(type) {
	case Wallet:
		e.Account.Currency = c.account.Currency
		c.account = e.Account
		*event = e
	case MemberCount:
		if r := c.rooms[e.Room]; r != nil {
			r.Members = e.Count
		}
	case Read:
		if r := c.rooms[e.Room]; r != nil && e.User == c.me.ID {
			r.ReadSeq = max(r.ReadSeq, e.Seq)
		}
	case GrabResult:
		for result, packet := range c.grabs {
			if packet == e.Packet {
				select {
				case result <- e.Grab:
				default: // it has one
				}
			}
		}
	}
}
