package tables

import (
	"encoding/json"
	"time"

	"hongbao/redpacket"
	"hongbao/store/chain"
	"hongbao/store/eventlog"
)

// Transfer is a row of the table transfers: money that went from the debited party to the credited one.
type Transfer struct {
	Amount redpacket.Money
	Link   int64 // of a credit or debit; 0 for all other transfers, which are derived from packets and claims

	id            string
	user          string // owner of the wallet that the transfer changes
	at            time.Time
	debit, credit string
	kind          redpacket.TransferKind
	packet, share any             // nil if the transfer does not concern one
	key           any             // idempotency key of a credit or debit, which also has the texts below; nil: none
	details       json.RawMessage // of the event; nil: none

	hash                           []byte
	note, actor, requestID, reason string
}

// outside is the party that credits take money from, and that debits give it to.
const outside = "outside"

// UserParty is the party of a user's wallet in the columns debit and credit.
func UserParty(id string) string { return "user:" + id }

// PacketParty is the party of a packet.
func PacketParty(id string) string { return "packet:" + id }

// SendTransfer takes the total of a packet from its sender.
func SendTransfer(id string, p redpacket.Packet) Transfer {
	return Transfer{
		id: id, at: p.CreatedAt, debit: UserParty(p.From.ID), credit: PacketParty(p.ID), Amount: p.Total,
		kind: redpacket.TransferSend, user: p.From.ID, packet: p.ID,
	}
}

// ClaimTransfer pays a share of a packet.
func ClaimTransfer(id, packet string, g redpacket.Grant, amount redpacket.Money, at time.Time) Transfer {
	return Transfer{
		id: id, at: at, debit: PacketParty(packet), credit: UserParty(g.User), Amount: amount,
		kind: redpacket.TransferClaim, user: g.User, packet: packet, share: g.Share,
	}
}

// RefundTransfer returns the rest of a packet to its sender.
func RefundTransfer(id, packet, sender string, amount redpacket.Money, at time.Time) Transfer {
	return Transfer{
		id: id, at: at, debit: PacketParty(packet), credit: UserParty(sender), Amount: amount,
		kind: redpacket.TransferRefund, user: sender, packet: packet,
	}
}

// AdjustmentTransfer is the credit or, if the amount is negative, the debit of a. details is for its event; nil: none. The
// caller must set Link.
func AdjustmentTransfer(a redpacket.Adjustment, details json.RawMessage) Transfer {
	t := Transfer{
		id: a.ID, at: a.At, user: a.User, debit: outside, credit: UserParty(a.User), Amount: a.Amount,
		kind: redpacket.TransferCredit, key: a.Key, hash: a.Hash, note: a.Note,
		actor: a.Actor, requestID: a.RequestID, reason: a.Reason, details: details,
	}
	if a.Amount < 0 {
		t.debit, t.credit = t.credit, t.debit
		t.Amount, t.kind = -a.Amount, redpacket.TransferDebit
	}
	return t
}

// InsertTransfer inserts a Transfer. Its arguments are those of Transfer.Args.
const InsertTransfer = `insert into transfers
	(id, at, debit, credit, amount, kind, user_id, packet_id, share_no, key, hash, note,
	actor, request_id, reason, link /*! , bucket */)
	values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16 /*! , bucket_of($7) */)`

// Args returns the arguments of InsertTransfer.
func (t Transfer) Args() []any {
	return []any{
		t.id, t.at.UnixMilli(), t.debit, t.credit, t.Amount, t.kind, t.user, t.packet, t.share, t.key, t.hash, t.note,
		t.actor, t.requestID, t.reason, t.Link,
	}
}

// AddTo adds the event of the transfer to the refs.
func (t Transfer) AddTo(refs *eventlog.Refs) { refs.Transfer(t.user, t.at, t.id, t.kind, t.details) }

// Leaf returns the leaf of a credit or debit.
func (t Transfer) Leaf() chain.Hash {
	key, _ := t.key.(string)
	return chain.Transfer{
		ID: t.id, At: t.at.UnixMilli(), Debit: t.debit, Credit: t.credit, Amount: int64(t.Amount), Kind: string(t.kind), User: t.user,
		Key: key, Request: t.hash, Note: t.note,
		Actor: t.actor, RequestID: t.requestID, Reason: t.reason,
	}.Leaf()
}
