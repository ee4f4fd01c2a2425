package hostapi

import (
	"hongbao/redpacket/proof"
	"hongbao/web/wire"
)

var storyOperations = []Operation{
	{
		Method: wire.Method{
			Name: "get_packet", Does: "Returns all that is stored about a packet, whatever state it is in.", Request: GetPacketRequest{}, Reply: PacketStory{},
			Errors: []wire.Code{wire.CodeNotFound},
		},
		Verb: "GET", Path: "/v1/server/packets/{packet}", Scope: Read, Example: GetPacketRequest{Packet: "p-1"},
	},
	{
		Method: wire.Method{
			Name: "get_campaign", Does: "Returns a finished packet with its rules, participants, winners and proof, as one file to keep.", Request: GetPacketRequest{}, Reply: Campaign{},
			Errors: []wire.Code{wire.CodeNotFound, wire.CodeConflict},
		},
		Verb: "GET", Path: "/v1/server/packets/{packet}/campaign", Scope: Read, Texts: true, Example: GetPacketRequest{Packet: "p-1"},
	},
	{
		Method: wire.Method{
			Name: "list_packets", Does: "Lists the packets that a user has sent or received, or those of a room, newest first, whatever state they are in.",
			Request: ListPacketsRequest{}, Reply: ListPacketsReply{},
		},
		Verb: "GET", Path: "/v1/server/packets", Scope: Read, Example: ListPacketsRequest{Room: "r-1", Limit: 50},
	},
	{
		Method: wire.Method{
			Name: "get_refusals", Does: "Lists the grabs of the last 7 days that got no share, with the reason: of a user, newest first, or of a packet, oldest first. A user has one for each packet and reason, the first.",
			Request: GetRefusalsRequest{}, Reply: RefusalsReply{},
		},
		Verb: "GET", Path: "/v1/server/refusals", Scope: Read, Example: GetRefusalsRequest{Packet: "p-1", Limit: 10},
	},
	{
		Method: wire.Method{
			Name: "get_quarantine", Does: "Lists the claims that could not be paid, the oldest first, with what has become of each.", Request: GetQuarantineRequest{}, Reply: QuarantineReply{},
		},
		Verb: "GET", Path: "/v1/server/quarantine", Scope: Read, Example: GetQuarantineRequest{Limit: 10},
	},
	{
		Method: wire.Method{
			Name: "retry_quarantined", Does: "Settles an unpaid claim in quarantine again. A claim in another state is returned as it is. Repeated, it changes nothing.",
			Request: RetryQuarantinedRequest{}, Reply: RetryQuarantinedReply{}, Errors: []wire.Code{wire.CodeNotFound},
		},
		Verb: "POST", Path: "/v1/server/quarantine/retry", Scope: Money, Example: RetryQuarantinedRequest{No: 7},
	},
}

// GetPacketRequest is the request of get_packet.
type GetPacketRequest struct {
	Packet string `json:"packet"`
}

// ListPacketsRequest is the request of list_packets. It names either a user or a room.
type ListPacketsRequest struct {
	User      string `json:"user,omitempty"`
	Direction string `json:"direction,omitempty" enum:"sent,received"` // of a user's packets; "": sent
	Room      string `json:"room,omitempty"`
	From      *int64 `json:"from,omitempty"` // when the packet was sent, or received: at from or later
	To        *int64 `json:"to,omitempty"`   // and before to
	Next      string `json:"next,omitempty"` // the next of the page before; "": the first page
	Limit     int    `json:"limit,omitempty" min:"1"`
}

// ListPacketsReply is the reply of list_packets.
type ListPacketsReply struct {
	Packets []wire.PacketState `json:"packets"` // mine is of the user; missing in the list of a room. Without greetings for the scope support
	Next    string             `json:"next,omitempty"`
}

// PacketStory is the reply of get_packet.
type PacketStory struct {
	Packet *wire.Packet `json:"packet,omitempty"` // missing: the database has lost it, and only claims in quarantine are left
	Status string       `json:"status,omitempty"` // open, drained, expired or cancelled; missing if packet is missing

	ClosedAt    int64              `json:"closed_at,omitempty"`
	Claims      []PacketClaim      `json:"claims"` // by share
	Refunded    int64              `json:"refunded"`
	Transfers   []LedgerTransfer   `json:"transfers"`       // the sending, the claims by share, the refund
	Entries     []wire.Entry       `json:"entries"`         // packet, and packet_done once the packet has ended; none for the scope support
	Proof       *wire.Proof        `json:"proof,omitempty"` // once the packet has ended
	Quarantined []QuarantinedClaim `json:"quarantined"`
}

// Campaign is the reply of get_campaign.
type Campaign struct {
	Packet       wire.Packet    `json:"packet"` // the rules, as the room was told them beforehand
	Status       string         `json:"status" enum:"drained,expired,cancelled"`
	Refunded     int64          `json:"refunded"`
	Participants []Participant  `json:"participants"` // of a draw, ordered by leaf
	Winners      []PacketClaim  `json:"winners"`      // by share
	Proof        proof.Document `json:"proof"`
}

// Participant is a user that has entered a draw.
type Participant struct {
	User string `json:"user"` // id
	At   int64  `json:"at"`
	Leaf string `json:"leaf"` // in the proof
}

// PacketClaim is a share that a user got.
type PacketClaim struct {
	User   wire.User `json:"user"`
	Share  int       `json:"share"` // 0 is the first
	Amount int64     `json:"amount"`
	At     int64     `json:"at"`
}

// GetRefusalsRequest is the request of get_refusals. It names either a user or a packet.
type GetRefusalsRequest struct {
	User   string `json:"user,omitempty"`
	Packet string `json:"packet,omitempty"`
	Next   string `json:"next,omitempty"`          // the next of the page before; missing: the first page
	Limit  int    `json:"limit,omitempty" min:"1"` // at most 1000; missing: 100
}

// RefusalsReply is the reply of get_refusals.
type RefusalsReply struct {
	Refusals []Refusal `json:"refusals"`
	Next     string    `json:"next,omitempty"` // missing: it is the last page
}

// Refusal is a grab that got no share.
type Refusal struct {
	User   string `json:"user"`
	Packet string `json:"packet"`
	At     int64  `json:"at"`
	Why    string `json:"why"` // empty, expired, or the error that the user got, such as wrong_passphrase
}

// QuarantinedClaim is a claim that could not be paid.
type QuarantinedClaim struct {
	No     int64  `json:"no"`
	At     int64  `json:"at"`
	Packet string `json:"packet"`
	User   string `json:"user"`
	Share  int64  `json:"share"`
	Why    string `json:"why"`
	State  string `json:"state" enum:"unpaid,paid,ended,lost"` // paid: the user has a share of the packet; ended: the packet has; lost: the database lacks the packet
}

// GetQuarantineRequest is the request of get_quarantine.
type GetQuarantineRequest struct {
	After int64 `json:"after,omitempty" min:"0"` // the next of the page before; missing: the first page
	Limit int   `json:"limit,omitempty" min:"1"` // at most 1000; missing: 100
}

// QuarantineReply is the reply of get_quarantine.
type QuarantineReply struct {
	Claims []QuarantinedClaim `json:"claims"`
	Next   int64              `json:"next,omitempty"` // missing: it is the last page
}

// RetryQuarantinedRequest is the request of retry_quarantined.
type RetryQuarantinedRequest struct {
	No int64 `json:"no" min:"1"`
}

// RetryQuarantinedReply is the reply of retry_quarantined.
type RetryQuarantinedReply struct {
	Claim QuarantinedClaim `json:"claim"` // unpaid: it still cannot be paid, and why is the new reason
}
