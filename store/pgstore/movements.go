package pgstore

import (
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/redpacket"
)

// movement is a row of transfers: what went from the debited party to the credited one.
type movement struct {
	id            string
	at            time.Time
	debit, credit string
	amount        redpacket.Money
	kind          redpacket.TransferKind
	user          string // whose wallet it is about
	packet, share any    // nil where it is not about one
	key           any    // of an adjustment, with hash and note
	hash          []byte
	note          string
}

// The parties of a movement.
const outside = "outside"

func userParty(id string) string   { return "user:" + id }
func packetParty(id string) string { return "packet:" + id }

// queueMovement has the batch write the movement down; whoever calls it changes the wallet. Where its key has been used
// nothing is written.
func queueMovement(b *pgx.Batch, m movement) *pgx.QueuedQuery {
	return b.Queue(`insert into transfers
		(id, at, debit, credit, amount, kind, user_id, packet_id, share_no, key, hash, note)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
		on conflict (key) where key is not null do nothing`,
		m.id, m.at.UnixMilli(), m.debit, m.credit, m.amount, m.kind, m.user, m.packet, m.share, m.key, m.hash, m.note)
}
