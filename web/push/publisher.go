package push

import (
	"context"
	"time"

	"hongbao/chat"
	"hongbao/hub"
	"hongbao/web/convert"
	"hongbao/web/wire"
)

// Publisher publishes the changes that the services have committed to the hub. It implements chat.Publisher.
type Publisher struct {
	// static after CacheStandings
	hub   *hub.Hub
	node  string
	rooms *chat.Service // nil: standings are not cached before signals
}

// standingTimeout bounds how long a publisher waits for the user's standing before a signal.
const standingTimeout = time.Second

// NewPublisher returns a publisher for a hub. It draws the name of this instance.
func NewPublisher(h *hub.Hub) *Publisher { return &Publisher{hub: h, node: chat.NewID(time.Now())} }

// CacheStandings sets the chat service whose cache the publisher fills with a user's standing before it signals that the standing
// changed. The sessions on this instance then apply the signal at once. chat.New needs the publisher, so NewPublisher cannot take the
// service. Call it before anything is published.
func (p *Publisher) CacheStandings(rooms *chat.Service) { p.rooms = rooms }

// Node returns the name of this instance.
func (p *Publisher) Node() string { return p.node }

// Entry implements chat.Publisher.
func (p *Publisher) Entry(e chat.Entry) {
	p.hub.Publish(RoomTopic(e.Room), entryMessage(e))
}

// ToRoom implements chat.Publisher.
func (p *Publisher) ToRoom(room string, e chat.Event) { p.to(RoomTopic(room), e) }

// ToUser implements chat.Publisher. Before a signal about a room it waits for the user's standing, for standingTimeout at most.
func (p *Publisher) ToUser(user string, e chat.Event) {
	switch e := e.(type) {
	case chat.Entered:
		p.cacheStanding(e.Membership.Room.ID, user)
	case chat.Exited:
		p.cacheStanding(e.Room, user)
	}
	p.to(UserTopic(user), e)
}

// StandingChanged implements chat.Publisher.
func (p *Publisher) StandingChanged(room, user string) {
	p.hub.Notify(Notice{Moved: &Membership{Room: room, User: user}}.encode())
}

// CloseSockets closes a socket of the user with a close code, whichever instance it is on. If socket is "", it closes
// all sockets of the user.
func (p *Publisher) CloseSockets(user, socket string, code int) {
	p.signal(UserTopic(user), Signal{Close: &Close{Code: code, Socket: socket}})
}

// to publishes an event. Changes of a user's rooms are signals to the sessions, everything else is a push to the clients.
func (p *Publisher) to(topic string, e chat.Event) {
	switch e := e.(type) {
	case chat.Entered:
		p.signal(topic, EnteredSignal(e.Membership))
	case chat.Exited:
		p.signal(topic, Signal{Room: e.Room, Reason: e.Reason, Through: e.Through})
	default:
		p.hub.Publish(topic, hub.Message{Data: messageOf(e), Meta: eventMeta(e)})
	}
}

// cacheStanding reads the user's standing into the cache if the user has a socket here. Its sessions then need not wait for the store,
// and are in the room before its next entry. If the store does not answer, the sessions ask it again later.
func (p *Publisher) cacheStanding(room, user string) {
	if p.rooms == nil || p.hub.Listeners(UserTopic(user)) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), standingTimeout)
	defer cancel()
	_, _ = p.rooms.Standing(ctx, room, user)
}

func (p *Publisher) signal(topic string, s Signal) {
	s.By = p.node
	p.hub.Signal(topic, s.Encode())
}

// EnteredSignal returns the signal that the membership's user is now in its room.
func EnteredSignal(m chat.Membership) Signal {
	s := Signal{Room: m.Room.ID, Entered: &Entered{Seen: m.Room.LastSeq}}
	s.Entered.Data.Room = convert.Membership(m)
	return s
}

// NoSequence is the value of seen for hub.Conn.Subscribe if the topic's messages have no seq.
const NoSequence = -1

// RoomTopic returns the name of a room's topic in the hub, which is also its channel on the wire. The topic carries the
// room's entries, with their seqs.
func RoomTopic(room string) string { return wire.RoomChannel(room) }

// UserTopic returns the name of the topic that all sockets of a user are subscribed to.
func UserTopic(user string) string { return "user:" + user }

// Ping returns the message that checks whether a client is alive. It is for hub.Options.
func Ping(e hub.Encoding) []byte { return wire.Ping(wire.Encoding(e)) }
