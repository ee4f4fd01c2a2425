package pgstore

import (
	"context"
	"math"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/redpacket"
)

// Details implements redpacket.Ledger.
func (s *Store) Details(ctx context.Context, q redpacket.DetailsQuery) (d redpacket.DetailsPage, err error) {
	if !storableID(q.Packet) {
		return redpacket.DetailsPage{}, chat.ErrNotFound
	}
	err = s.withReader(ctx, func(r reader) error {
		if err := r.sendBatch(oneSnapshot(func(batch *pgx.Batch) { queueDetails(batch, q, &d) })); err != nil {
			return err
		}
		return foundPacket(d.Packet.ID)
	})
	if err != nil {
		return redpacket.DetailsPage{}, outcome("read details", err)
	}
	return d, nil
}

// queueDetails makes the batch read the page into d, which stays empty if there is no such packet. Seed and shares of an
// open packet are secret, so they are not read.
func queueDetails(batch *pgx.Batch, q redpacket.DetailsQuery, d *redpacket.DetailsPage) {
	*d = redpacket.DetailsPage{}
	batch.Queue(`select `+packetColumns+`, `+stateColumns+`,
			case when p.status <> 'open' then p.seed end, case when p.status <> 'open' then p.shares end
		from packets p`+stateJoins+`where p.id = $2`, q.User, q.Packet).QueryRow(func(row pgx.Row) error {
		var state storedState
		dest := append(packetInto(&d.Packet), state.into()...)
		err := row.Scan(append(dest, storedSeed{&d.Seed, new(bool)}, &d.Shares)...)
		d.Packet, d.State = normalized(d.Packet), state.value()
		return noRowsOK(err)
	})
	batch.Queue(claimsAfter, q.Packet, min(q.AfterRank, math.MaxInt32), q.Limit+1).Query(func(rs pgx.Rows) (err error) {
		if d.Claims, err = collect(rs, scanPaid); len(d.Claims) > q.Limit {
			d.Claims, d.More = d.Claims[:q.Limit], true
		}
		return err
	})
}

// claimsAfter reads a page of claims, ordered by share. It selects the page before it joins the users. Otherwise, for
// a packet newer than the table's statistics, Postgres would join the users of all its claims.
var claimsAfter = `select ` + paidColumns("c", "u") + `
	from (select share_no, amount, at, user_id from claims where packet_id = $1 and share_no >= $2 order by share_no limit $3) c
	left join users u on u.id = c.user_id order by c.share_no`
