package hub

import "hongbao/hub/internal/envelope"

// receiver implements Receiver for a hub. The bus calls its methods.
type receiver struct{ hub *Hub }

// Receive implements Receiver. It delivers the payload to subscribers on this instance only.
func (r receiver) Receive(topic string, payload []byte) {
	h := r.hub
	e, err := envelope.Parse(payload)
	if err != nil {
		h.o.Log.Warn("bus payload dropped", "topic", topic, "err", err)
		return
	}
	switch e.Kind {
	case envelope.Signal:
		h.topics.signal(topic, e.Data)
	case envelope.Notice:
		if h.peers != nil {
			h.peers.Notice(e.Data)
		}
	default:
		if h.topics.lookup(topic) == nil {
			return // a subscriber that comes now begins at the present position
		}
		m := Message{Seq: e.Seq, Data: e.Data, Final: e.Final, Deferred: e.Kind == envelope.Deferred}
		if h.o.Decode != nil {
			m.Meta = h.o.Decode(topic, m.Seq, m.Data)
		}
		h.topics.publish(topic, m)
	}
}

// Suspect implements Receiver.
func (r receiver) Suspect() {
	r.hub.comparer.compareAll()
	if !r.hub.env.busDown.Load() {
		r.tellPeers(true)
		r.tellPeers(false)
	}
}

// Compare implements Receiver. It requests a comparison of every topic with the store.
func (r receiver) Compare() { r.hub.comparer.compareAll() }

// Down implements Receiver.
func (r receiver) Down(down bool) {
	h := r.hub
	if h.env.busDown.Swap(down) == down {
		return
	}
	if down {
		h.o.Log.Warn("bus is down: the store is asked instead")
	} else {
		h.o.Log.Info("bus is up")
		h.comparer.busUp()
	}
	r.tellPeers(down)
}

// start puts the hub into the state in which the bus is down.
func (r receiver) start() {
	r.hub.env.busDown.Store(true)
	r.tellPeers(true)
	if r.hub.peers != nil {
		r.hub.o.Bus.Subscribe(noticeTopic)
	}
}

func (r receiver) tellPeers(lost bool) {
	if r.hub.peers != nil {
		r.hub.peers.BusLost(lost)
	}
}
