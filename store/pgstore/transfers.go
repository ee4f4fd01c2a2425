package pgstore

import (
	"context"
	"math"

	"github.com/jackc/pgx/v5"

	"hongbao/redpacket"
	"hongbao/store/cursor"
)

// Transfers implements redpacket.Ledger.
func (s *Store) Transfers(ctx context.Context, user, next string, limit int) (all []redpacket.Transfer, more string, err error) {
	at, id := int64(math.MaxInt64), ""
	if next != "" {
		if err := cursor.Parse("transfers", next, &at, &id); err != nil {
			return nil, "", err
		}
	}
	err = s.withReader(ctx, func(r reader) error {
		all, err = rows(r, scanTransfer,
			`select id, at, case when credit = 'user:' || user_id then amount else -amount end, kind, coalesce(packet_id, ''), note
			from transfers where user_id = $1 and (at, id) < ($2, $3) order by at desc, id desc limit $4`,
			user, at, id, limit+1)
		return err
	})
	if err != nil {
		return nil, "", outcome("list transfers", err)
	}
	if len(all) > limit {
		all = all[:limit]
		last := all[limit-1]
		more = cursor.Make("transfers", last.At.UnixMilli(), last.ID)
	}
	return all, more, nil
}

func scanTransfer(rs pgx.Rows) (t redpacket.Transfer, err error) {
	err = rs.Scan(&t.ID, storedTime{&t.At}, &t.Amount, &t.Kind, &t.Packet, &t.Note)
	return t, err
}
