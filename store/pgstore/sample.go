package pgstore

import (
	"context"
	"time"

	"hongbao/redpacket"
	"hongbao/store/tables"
)

// Sample implements redpacket.Ledger.
func (s *Store) Sample(ctx context.Context, now time.Time) (sample redpacket.LedgerSample, err error) {
	err = s.withSnapshot(ctx, func(r reader) error {
		var total, claimed, first int64
		_, err := r.Row(`with open as materialized (select id, total, expires_at from packets where status = 'open' order by expires_at, id limit $1),
				claimed as /*! materialized */ (select c.amount from /*one*/ open o join claims c on c.packet_id = o.id /*end*/
					/*! claims c where c.packet_id in (select id from open) */ limit $2)
			select count(*), coalesce(sum(total), 0)::bigint, (select coalesce(sum(amount), 0)::bigint from claimed),
				count(*) filter (where expires_at < $3), coalesce(min(expires_at) filter (where expires_at < $3), $3),
				(select count(*) from (select 1 from quarantine limit $1) q)
			from open`,
			[]any{redpacket.SamplePackets, redpacket.SampleClaims, now.UnixMilli()},
			&sample.Open, &total, &claimed, &sample.Overdue, &first, &sample.Quarantined)
		sample.Escrow, sample.Late = redpacket.Money(total-claimed), now.Sub(time.UnixMilli(first)).Truncate(time.Millisecond)
		return err
	})
	return sample, tables.Outcome("sample the books", err)
}
