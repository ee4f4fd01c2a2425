package eventlog

import (
	"fmt"
	"maps"
	"strings"
)

// The kinds of events, except TransferReversed.
const (
	MessageNew      = "message.new"
	MessageEdited   = "message.edited"
	MessageRecalled = "message.recalled"
	MessageReaction = "message.reaction"
	PacketSent      = "packet.sent"
	PacketClaimed   = "packet.claimed"
	PacketClosed    = "packet.closed"
	TransferCredit  = "transfer.credit"
	TransferDebit   = "transfer.debit"
	TransferSend    = "transfer.send"
	TransferClaim   = "transfer.claim"
	TransferRefund  = "transfer.refund"
	MemberJoined    = "member.joined"
	MemberLeft      = "member.left"
	MemberChanged   = "member.changed"
	RoomCreated     = "room.created"
	RoomUpdated     = "room.updated"
	RoomDeleted     = "room.deleted"
	UserUpdated     = "user.updated"
	UserRevoked     = "user.revoked"
	UserSuspended   = "user.suspended"
	UserReinstated  = "user.reinstated"
	UserErased      = "user.erased"
	UserOffline     = "user.offline_message"
	ReportNew       = "report.new"
	ReportResolved  = "report.resolved"
	ReportAppealed  = "report.appealed"
)

// TransferReversed says that a funding of the host is void. It is no transfer: nothing came into a wallet.
const TransferReversed = "transfer.reversed"

// AllKinds lists all kinds, in the order of the documents.
func AllKinds() []string {
	return []string{
		MessageNew, MessageEdited, MessageRecalled, MessageReaction,
		PacketSent, PacketClaimed, PacketClosed,
		TransferCredit, TransferDebit, TransferSend, TransferClaim, TransferRefund, TransferReversed,
		MemberJoined, MemberLeft, MemberChanged,
		RoomCreated, RoomUpdated, RoomDeleted,
		UserUpdated, UserRevoked, UserSuspended, UserReinstated, UserErased, UserOffline,
		ReportNew, ReportResolved, ReportAppealed,
	}
}

// Kinds is a set of kinds. With the empty set, the event stream is off.
type Kinds map[string]bool

// ParseKinds returns the kinds that the patterns name. A pattern is a kind, a group such as message.*, or * for all kinds.
func ParseKinds(patterns []string) (Kinds, error) {
	kinds := Kinds{}
	for _, pattern := range patterns {
		group, isGroup := strings.CutSuffix(pattern, "*")
		found := false
		for _, kind := range AllKinds() {
			if kind == pattern || isGroup && strings.HasPrefix(kind, group) && (group == "" || strings.HasSuffix(group, ".")) {
				kinds[kind], found = true, true
			}
		}
		if !found {
			return nil, fmt.Errorf("%q is no kind of event: use *, a group such as message.*, or one of %s", pattern, strings.Join(AllKinds(), ", "))
		}
	}
	return kinds, nil
}

// Written returns the kinds that must be written so that all kinds of k can be read. UserOffline needs others: the server finds the
// entries that may be news for users without a socket in the stream itself.
func (k Kinds) Written() Kinds {
	if !k[UserOffline] {
		return k
	}
	written := maps.Clone(k)
	written[MessageNew], written[PacketSent] = true, true
	return written
}
