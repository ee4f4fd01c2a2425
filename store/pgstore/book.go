package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/redpacket"
)

// Book implements redpacket.Ledger.
func (s *Store) Book(ctx context.Context, packet string) (b redpacket.Book, err error) {
	if !possible(packet) {
		return redpacket.Book{}, chat.ErrNotFound
	}
	err = s.look(ctx, func(r reader) error {
		if err := r.batch(oneSnapshot(func(batch *pgx.Batch) { queueBook(batch, packet, &b) })); err != nil {
			return err
		}
		return known(b.Packet.ID)
	})
	if err != nil {
		return redpacket.Book{}, outcome("read book", err)
	}
	return b, nil
}

// oneSnapshot makes what is queued see one snapshot, in the same round trip. If one of the statements fails, the
// connection is left in a transaction, and so will be closed.
func oneSnapshot(queue func(b *pgx.Batch)) *pgx.Batch {
	b := &pgx.Batch{}
	b.Queue(`begin read only, isolation level repeatable read`)
	queue(b)
	b.Queue(`commit`)
	return b
}

// queueBook has the batch read the packet's book into b, which stays empty when there is none. In two statements: they
// must see one snapshot, or come after the packet's row was locked.
func queueBook(batch *pgx.Batch, packet string, b *redpacket.Book) {
	*b = redpacket.Book{}
	batch.Queue(`select `+packetColumns+`, p.status, p.refunded, p.seed, p.shares from packets p where p.id = $1`, packet).
		QueryRow(func(row pgx.Row) error {
			err := row.Scan(append(packetInto(&b.Packet), &b.Status, &b.Refunded, storedSeed{&b.Seed, new(bool)}, &b.Shares)...)
			b.Packet = tidy(b.Packet)
			return ifAny(err)
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
