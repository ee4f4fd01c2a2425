package pgstore

import (
	"encoding/hex"
	"fmt"

	"hongbao/store/eventlog"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/pgstore/internal/stream"
)

// UseEvents implements eventlog.Store.
func (s *Store) UseEvents(kinds eventlog.Kinds) { s.events = kinds.Written() }

// insertEvents returns the statement that adds the row of this transaction to the stream. It must be the last statement that writes:
// Postgres draws the id when all rows are locked.
func (l *link) insertEvents(refs *eventlog.Refs) (string, error) {
	text, err := refs.Bytes()
	return fmt.Sprintf(`insert into events (chain, at, refs) values (%d, %d, '\x%s'::bytea)`, l.chain.number, l.at, hex.EncodeToString(text)), err
}

// insertPaidEvents adds the row of a payment some of whose claims may not have been inserted. $1 and $2 are the packets and
// shares of all its claims, and $3 is the chain, the id of the link, and its time.
const insertPaidEvents = `
insert into events (chain, at, refs)
select ($3::bigint[])[1], ($3::bigint[])[3], convert_to(jsonb_agg(jsonb_build_object('p', packet_id, 'n', shares) order by packet_id)::text, 'UTF8')
from (
	select c.packet_id, jsonb_agg(c.share_no order by c.share_no) as shares
	from (select distinct packet_id, share_no from unnest($1::text[], $2::int[]) i (packet_id, share_no)) i
	cross join lateral (select packet_id, share_no from claims where packet_id = i.packet_id and share_no = i.share_no and link = ($3::bigint[])[2] offset 0) c
	group by c.packet_id
) paid having count(*) > 0`

// queueEvents adds to the message, after the payment, the statement that writes its events. If allNew is set, all
// claims are inserted or the payment fails. If no kind of event about claims is wanted, it adds nothing.
func (b *claimBatch) queueEvents(m *pg.Message, w *writer, allNew bool) error {
	if !w.refs.WantsClaims() {
		return nil
	}
	if !allNew {
		packets, shares := make([]string, len(b.pay)), make([]int64, len(b.pay))
		for i, r := range b.pay {
			packets[i], shares[i] = r.ID, int64(r.Share)
		}
		m.Run(nil, "", insertPaidEvents, packets, shares, []int64{w.link.chain.number, w.link.id, w.link.at})
		return nil
	}
	refs := eventlog.Collect(w.events)
	for _, r := range b.pay {
		refs.Claim(r.ID, r.Share)
	}
	insert, err := w.link.insertEvents(&refs)
	m.Add(insert)
	return err
}

// addEvents returns the statements that add the row of the transaction to the stream, or "".
func (w *writer) addEvents() (string, error) {
	if w.refs.Empty() {
		return "", nil
	}
	insert, err := w.link.insertEvents(&w.refs)
	return insert + "; ", err
}

// DeleteEvents implements tables.Tx.
func (w *writer) DeleteEvents(through, limit int64) (int64, error) {
	return w.Exec(stream.Delete, through, limit)
}
