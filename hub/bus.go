package hub

import "context"

// Bus carries messages between instances.
type Bus interface {
	// Publish hands a payload to the other instances, in order per topic. It never blocks. The payload does not
	// change any more. The rank says what must not be lost while it cannot be sent.
	Publish(topic string, payload []byte, rank Rank)
	// Subscribe and Unsubscribe say which topics this instance wants. They never block.
	Subscribe(topics ...string)
	Unsubscribe(topics ...string)
	// Run delivers until ctx is done. The bus is down until it has said Down(false) for the first time. It may be run
	// again.
	Run(ctx context.Context, r Receiver) error
}

// Rank is what a payload is worth while the bus cannot send it. Of those with a rank above zero the topic's highest
// is kept: who gets it asks for what is missing.
type Rank int64

// The ranks below.
const (
	Loose Rank = 0  // may be dropped
	Kept  Rank = -1 // each one is kept while this process lives; is even that too much, the others hear Suspect
)

// Receiver is the hub, as the bus sees it. Payloads of one topic come in order, one after the other; those of several
// may come at once. Suspect, Compare and Down never overlap with themselves or each other.
type Receiver interface {
	// Receive takes a payload that another instance published. The hub keeps it: it must not change any more.
	Receive(topic string, payload []byte)
	// Suspect says that messages may have been lost: compare every topic's last seq with the store. It comes before
	// anything that was published after the loss.
	Suspect()
	// Compare says only that sequenced messages may be late: another instance has been silent for a while, and may yet
	// be committing what it cannot publish. Whatever else it says will come when it is heard again.
	Compare()
	// Down says that the bus is known to be down (true), or up again (false), which says what Suspect says, too.
	// Meanwhile the hub asks the store.
	Down(down bool)
}

// busEnd is the Receiver of a hub.
type busEnd struct{ hub *Hub }

// Receive delivers to local listeners only: the others have their own instance.
func (b busEnd) Receive(topic string, payload []byte) {
	e, err := parseEnvelope(payload)
	if err != nil {
		b.hub.o.Log.Warn("bus payload dropped", "topic", topic, "err", err)
		return
	}
	switch e.kind {
	case kindSignal:
		b.hub.signalHere(topic, e.data)
	case kindNotice:
		b.hub.noticed(e.data)
	default:
		b.hub.publishHere(topic, Message{Seq: e.seq, Data: e.data, Last: e.last, Late: e.kind == kindLate})
	}
}

// Suspect has every topic compared with the store.
func (b busEnd) Suspect() {
	b.hub.suspectAll()
	if !b.hub.down.Load() {
		b.hub.deaf(true)
		b.hub.deaf(false)
	}
}

// Compare has every topic compared with the store.
func (b busEnd) Compare() { b.hub.suspectAll() }

// Down has the store asked instead of the bus, for as long as it lasts.
func (b busEnd) Down(down bool) {
	if b.hub.down.Swap(down) == down {
		return
	}
	if down {
		b.hub.o.Log.Warn("bus is down: the store is asked instead")
	} else {
		b.hub.o.Log.Info("bus is up")
		b.hub.suspectAll()
	}
	b.hub.deaf(down)
}
