package hub

// noticeTopic carries the notices. No topic of a connection may have this name.
const noticeTopic = "!notices"

// Peers is who listens to the other instances: what they say has no place in any topic, and no store repeats it.
type Peers interface {
	// Notice is what another instance said with Notify. It holds up the bus, so it must be quick.
	Notice(data []byte)
	// Deaf says that notices and signals may be lost from now on (true), or that they come again, perhaps after some
	// were lost (false). With a bus one begins deaf. Nothing that came after a loss is given before.
	Deaf(deaf bool)
}

// SetPeers names the listener. It is called before Run.
func (h *Hub) SetPeers(p Peers) { h.peers = p }

// Notify tells every other instance. What cannot be told at once is told later.
func (h *Hub) Notify(data []byte) {
	if h.o.Bus != nil {
		h.o.Bus.Publish(noticeTopic, encodeEnvelope(envelope{kind: kindNotice, data: data}), Kept)
	}
}

func (h *Hub) noticed(data []byte) {
	if h.peers != nil {
		h.peers.Notice(data)
	}
}

func (h *Hub) deaf(deaf bool) {
	if h.peers != nil {
		h.peers.Deaf(deaf)
	}
}
