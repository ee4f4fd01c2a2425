package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/redpacket"
)

// Book implements redpacket.Ledger.
func (s *Store) Book(ctx context.Context, packet string) (b redpacket.Book, err error) {
	if !storableID(packet) {
		return redpacket.Book{}, chat.ErrNotFound
	}
	err = s.withReader(ctx, func(r reader) error {
		if err := r.sendBatch(oneSnapshot(func(batch *pgx.Batch) { queueBook(batch, packet, &b) })); err != nil {
			return err
		}
		return foundPacket(b.Packet.ID)
	})
	if err != nil {
		return redpacket.Book{}, outcome("read book", err)
	}
	return b, nil
}

// oneSnapshot returns a batch whose queued statements all see one snapshot, in one round trip. If a statement fails,
// the connection stays in a transaction, so the pool closes it on release.
func oneSnapshot(queue func(b *pgx.Batch)) *pgx.Batch {
	b := &pgx.Batch{}
	b.Queue(`begin read only, isolation level repeatable read`)
	queue(b)
	b.Queue(`commit`)
	return b
}

// queueBook makes the batch read the packet and its claims into b, which stays empty if there is no such packet.
// These are two statements: they must see one snapshot, or the packet's row must be locked.
func queueBook(batch *pgx.Batch, packet string, b *redpacket.Book) {
	*b = redpacket.Book{}
	batch.Queue(`select `+packetColumns+`, p.status, p.refunded, p.seed, p.shares from packets p where p.id = $1`, packet).
		QueryRow(func(row pgx.Row) error {
			err := row.Scan(append(packetInto(&b.Packet), &b.Status, &b.Refunded, storedSeed{&b.Seed, new(bool)}, &b.Shares)...)
			b.Packet = normalized(b.Packet)
			return noRowsOK(err)
		})
	batch.Queue(claimsQuery, packet).Query(func(rs pgx.Rows) (err error) {
		b.Claims, err = collect(rs, scanPaid)
		return err
	})
}

// claimsQuery reads a packet's claims by share.
var claimsQuery = `select ` + paidColumns("c", "u") + `
	from claims c left join users u on u.id = c.user_id where c.packet_id = $1 order by c.share_no`

func scanPaid(rs pgx.Rows) (redpacket.Paid, error) {
	var s storedPaid
	if err := rs.Scan(s.into()...); err != nil {
		return redpacket.Paid{}, err
	}
	return *s.paid(), nil
}
