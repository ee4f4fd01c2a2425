package web

import (
	"time"

	"hongbao/chat"
	"hongbao/hub"
	"hongbao/redpacket"
	"hongbao/web/wire"
)

// Publisher tells the hub, in wire terms, what the services have committed.
type Publisher struct {
	hub  *hub.Hub
	node string // names this instance
}

// NewPublisher makes the publisher of a hub.
func NewPublisher(h *hub.Hub) *Publisher { return &Publisher{hub: h, node: chat.NewID(time.Now())} }

// Entry implements chat.Publisher.
func (p *Publisher) Entry(e chat.Entry) {
	p.hub.Publish(roomTopic(e.Room), entryMessage(e))
}

// ToRoom implements chat.Publisher.
func (p *Publisher) ToRoom(room string, e chat.Event) { p.to(roomTopic(room), e) }

// ToUser implements chat.Publisher.
func (p *Publisher) ToUser(user string, e chat.Event) { p.to(userTopic(user), e) }

// to publishes an event. What changes a user's rooms is handled by his sessions, the rest is for his clients.
func (p *Publisher) to(topic string, e chat.Event) {
	switch e := e.(type) {
	case chat.Entered:
		p.signal(topic, enteredSignal(e.Membership))
	case chat.Gone:
		p.signal(topic, signal{Room: e.Room, Reason: e.Reason, Through: e.Through})
	default:
		p.tell(topic, e)
	}
}

func (p *Publisher) signal(topic string, sig signal) {
	sig.By = p.node
	p.hub.Signal(topic, sig.encode())
}

// Moved implements chat.Publisher.
func (p *Publisher) Moved(room, user string) {
	p.hub.Notify(marshal(notice{Moved: &place{Room: room, User: user}}))
}

// tell sends an event as a message without a place in a sequence.
func (p *Publisher) tell(topic string, e chat.Event) {
	p.hub.Publish(topic, hub.Message{Data: pushOf(e)})
}

// pushOf is the event as clients get it.
func pushOf(e chat.Event) []byte {
	var m wire.Message
	switch e := e.(type) {
	case chat.MembersCounted:
		m.Members = &wire.MembersPush{Room: e.Room, Count: e.Count}
	case chat.ReadMoved:
		m.Read = &wire.ReadPush{Room: e.Room, User: e.User, Seq: e.Seq}
	case chat.Typed:
		m.Typing = &wire.TypingPush{Room: e.Room, User: e.User}
	case chat.PresenceMoved:
		m.Presence = &wire.PresencePush{Room: e.Room, User: e.User, Online: e.Online}
	case redpacket.Progress:
		return wire.ProgressPush(e).MessageJSON()
	case redpacket.GrabDecided:
		return wireResult(e.Result).MessageJSON()
	case redpacket.WalletChanged:
		return wire.WalletPush{
			Balance: int64(e.Account.Balance), Change: int64(e.Change), Kind: string(e.Kind), Packet: e.Packet,
			NextCommitment: e.Account.NextCommitment,
		}.MessageJSON()
	default:
		panic("web: no push for event " + e.EventName()) // a new event without its push is a bug of ours
	}
	return marshal(m)
}
