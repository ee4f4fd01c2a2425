package hostapi

import "hongbao/web/wire"

var storyOperations = []Operation{
	{
		Method: wire.Method{
			Name: "get_packet", Does: "Returns all that is stored about a packet, whatever state it is in.", Request: GetPacketRequest{}, Reply: PacketStory{},
			Errors: []wire.Code{wire.CodeNotFound},
		},
		Verb: "GET", Path: "/v1/server/packets/{packet}", Scope: Read, Example: GetPacketRequest{Packet: "p-1"},
	},
}

// GetPacketRequest is the request of get_packet.
type GetPacketRequest struct {
	Packet string `json:"packet"`
}

// PacketStory is the reply of get_packet.
type PacketStory struct {
	Packet *wire.Packet `json:"packet,omitempty"` // missing: the database has lost it, and only claims in quarantine are left
	Status string       `json:"status,omitempty"` // open, drained, expired or cancelled; missing if packet is missing

	ClosedAt    int64              `json:"closed_at,omitempty"`
	Claims      []PacketClaim      `json:"claims"` // by share
	Refunded    int64              `json:"refunded"`
	Transfers   []LedgerTransfer   `json:"transfers"`       // the sending, the claims by share, the refund
	Entries     []wire.Entry       `json:"entries"`         // packet, and packet_done once the packet has ended
	Proof       *wire.Proof        `json:"proof,omitempty"` // once the packet has ended
	Quarantined []QuarantinedClaim `json:"quarantined"`
}

// PacketClaim is a share that a user got.
type PacketClaim struct {
	User   wire.User `json:"user"`
	Share  int       `json:"share"` // 0 is the first
	Amount int64     `json:"amount"`
	At     int64     `json:"at"`
}

// QuarantinedClaim is a claim that can never be paid.
type QuarantinedClaim struct {
	At    int64  `json:"at"`
	User  string `json:"user"`
	Share int64  `json:"share"`
	Why   string `json:"why"`
}
