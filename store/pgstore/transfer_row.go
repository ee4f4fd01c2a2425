package pgstore

import (
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/redpacket"
	"hongbao/store/chain"
)

// transfer is a row of the table transfers: money that went from the debited party to the credited one.
type transfer struct {
	id            string
	at            time.Time
	debit, credit string
	amount        redpacket.Money
	kind          redpacket.TransferKind
	user          string // owner of the changed wallet
	packet, share any    // nil if the transfer does not concern one
	key           any    // idempotency key of an adjustment, with hash and note
	hash          []byte
	note          string
	// of an adjustment
	actor, requestID, reason string
	link                     int64 // 0 for the others, which are derived from packets and claims
}

// outside is the party that money of adjustments comes from and goes to.
const outside = "outside"

func userParty(id string) string   { return "user:" + id }
func packetParty(id string) string { return "packet:" + id }

// queueTransfer makes the batch insert the transfer, but not change the wallet. If the transfer's key has been used
// before, no row is inserted.
func queueTransfer(b *pgx.Batch, m transfer) *pgx.QueuedQuery {
	return b.Queue(`insert into transfers
		(id, at, debit, credit, amount, kind, user_id, packet_id, share_no, key, hash, note,
		actor, request_id, reason, link)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
		on conflict (key) where key is not null do nothing`,
		m.id, m.at.UnixMilli(), m.debit, m.credit, m.amount, m.kind, m.user, m.packet, m.share, m.key, m.hash, m.note,
		m.actor, m.requestID, m.reason, m.link)
}

// leaf returns the leaf of a credit or debit.
func (m transfer) leaf() chain.Hash {
	key, _ := m.key.(string)
	return chain.Transfer{
		ID: m.id, At: m.at.UnixMilli(), Debit: m.debit, Credit: m.credit, Amount: int64(m.amount), Kind: string(m.kind), User: m.user,
		Key: key, Request: m.hash, Note: m.note,
		Actor: m.actor, RequestID: m.requestID, Reason: m.reason,
	}.Leaf()
}
