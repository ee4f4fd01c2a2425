package wire

// SendPacketRequest is the request of send_packet.
type SendPacketRequest struct {
	Room       string   `json:"room"`
	Key        string   `json:"key"`
	Mode       string   `json:"mode,omitempty" enum:"lucky,equal"`
	Total      int64    `json:"total"`
	Count      *int     `json:"count,omitempty"` // may be left out if To is set
	Spread     string   `json:"spread,omitempty" enum:"calm,classic,wild"`
	Greeting   string   `json:"greeting,omitempty"`
	To         []string `json:"to,omitempty"`
	Passphrase string   `json:"passphrase,omitempty"`
	TTLS       *int64   `json:"ttl_s,omitempty"`
	Commitment string   `json:"commitment,omitempty"`
}

// SendPacketReply is the reply of send_packet.
type SendPacketReply struct {
	Packet         Packet `json:"packet"`
	Seq            int64  `json:"seq"`
	At             int64  `json:"at"`
	Balance        int64  `json:"balance"`
	AccountVersion int64  `json:"account_version"`
	NextCommitment string `json:"next_commitment"`
	Dup            bool   `json:"dup"`
}

// GrabRequest is the request of grab.
type GrabRequest struct {
	Packet     string `json:"packet"`
	Passphrase string `json:"passphrase,omitempty"`
}

// GrabReply is the reply of grab. Amount, Rank and At are set for won and already, Balance and AccountVersion for
// won.
type GrabReply struct {
	Packet         string `json:"packet"`
	Outcome        string `json:"outcome" enum:"won,already,empty,expired,pending"`
	Amount         int64  `json:"amount,omitempty"`
	Rank           int    `json:"rank,omitempty"`
	At             int64  `json:"at,omitempty"`
	Balance        *int64 `json:"balance,omitempty"`
	AccountVersion int64  `json:"account_version,omitempty"`
	Claimed        int    `json:"claimed"`
	Count          int    `json:"count"`
}

// PacketRequest is the request of packet.
type PacketRequest struct {
	Packet    string `json:"packet"`
	AfterRank int    `json:"after_rank,omitempty" min:"0"`
	Limit     int    `json:"limit,omitempty" min:"1"`
}

// PacketReply is the reply of packet. Proof is set when the packet has ended.
type PacketReply struct {
	Packet Packet  `json:"packet"`
	State  State   `json:"state"`
	Claims []Claim `json:"claims"`
	More   bool    `json:"more"`
	Proof  *Proof  `json:"proof,omitempty"`
}

// CancelPacketRequest is the request of cancel_packet.
type CancelPacketRequest struct {
	Packet string `json:"packet"`
}

// CancelPacketReply is the reply of cancel_packet.
type CancelPacketReply struct {
	State          State `json:"state"`
	Balance        int64 `json:"balance"`
	AccountVersion int64 `json:"account_version"`
}

// PacketsRequest is the request of packets: those of [From, To).
type PacketsRequest struct {
	Direction string `json:"direction" enum:"sent,received"`
	From      *int64 `json:"from,omitempty" min:"0"`
	To        *int64 `json:"to,omitempty" min:"0"`
	Next      string `json:"next,omitempty"`
	Limit     int    `json:"limit,omitempty" min:"1"`
}

// PacketsReply is the reply of packets; Totals are over the whole period.
type PacketsReply struct {
	Packets []PacketState `json:"packets"`
	Totals  Totals        `json:"totals"`
	Next    string        `json:"next,omitempty"`
}

// PacketState is a packet with its state.
type PacketState struct {
	Packet Packet `json:"packet"`
	State  State  `json:"state"`
}

// Totals of a period: the number of packets, the amount, and how often the user was the luckiest.
type Totals struct {
	Count    int   `json:"count"`
	Amount   int64 `json:"amount"`
	Luckiest int   `json:"luckiest"`
}
