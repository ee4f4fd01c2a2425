package sqlitestore

import (
	"encoding/json"
	"time"

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
	user          string // owner of the wallet that the transfer changes
	packet, share any    // nil if the transfer does not concern one
	key           any    // idempotency key of an adjustment, with hash and note
	hash          []byte
	note          string
	// of an adjustment
	actor, requestID, reason string
	link                     int64 // 0 for all other transfers: they are derived from packets and claims

	details json.RawMessage // of the event; nil: none
}

// outside is the party that money of adjustments comes from and goes to.
const outside = "outside"

func userParty(id string) string   { return "user:" + id }
func packetParty(id string) string { return "packet:" + id }

// record inserts the transfer. The caller must change the wallet.
func (w *writer) record(m transfer) error {
	w.refs.Transfer(m.user, m.at, m.id, m.kind, m.details)
	_, err := w.Exec(`insert into transfers
		(id, at, debit, credit, amount, kind, user_id, packet_id, share_no, key, hash, note,
		actor, request_id, reason, link)
		values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		m.id, m.at.UnixMilli(), m.debit, m.credit, m.amount, m.kind, m.user, m.packet, m.share, m.key, m.hash, m.note,
		m.actor, m.requestID, m.reason, m.link)
	return err
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
