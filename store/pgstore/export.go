package pgstore

import (
	"context"

	"hongbao/redpacket"
	"hongbao/store/eventlog"
	"hongbao/store/tables"
)

const (
	linksPerRead = 500
	// readsPerPage is the most reads of links for one page. They are bounded because most links may have no transfers.
	readsPerPage = 40
)

// readLinks reads at most $3 links in the order of their ids: of each chain those after its position ($1, $2). It sees
// one snapshot: if it returns a link, it returns all of these links that the order puts before it.
const readLinks = `select l.chain, l.id from ` + streamChains + ` left join unnest($1::bigint[], $2::bigint[]) v (chain, id) on v.chain = c.id
	cross join lateral (select chain, id from links where chain = c.id and id > coalesce(v.id, 0) order by id limit $3) l
	order by l.id limit $3`

// readLinkTransfers reads the transfers of the links $1. Sends and refunds are found by the entries of their
// transactions. $2 and $3 are the least and the greatest of the links: the index claims_link needs a range.
var readLinkTransfers = tables.FirstOnCitus(
	tables.Of("c", "claims", `link = any($1::bigint[])`), tables.Of("e", "entries", `link = any($1::bigint[]) and kind in ('packet', 'packet_done')`),
	tables.Of("t", "transfers", `link = any($1::bigint[]) and link <> 0`),
	tables.Of("x", "transfers", `kind in ('send', 'refund') and packet_id in (select body::jsonb ->> case kind when 'packet' then 'id' else 'packet' end from e)`)) + `
select c.link, c.transfer, c.at, c.amount, 'claim', c.packet_id, '', c.user_id, c.share_no, '', '', ''
	from /*one*/ claims /*end*/ c where c.link between $2 and $3 and c.link = any($1::bigint[])
union all
select t.link, t.id, t.at, case when t.kind = 'debit' then -t.amount else t.amount end, t.kind, coalesce(t.packet_id, ''), t.note, t.user_id, 0, t.actor, t.request_id, t.reason
	from /*one*/ transfers /*end*/ t where t.link = any($1::bigint[]) and t.link <> 0
union all
select e.link, t.id, t.at, case when t.kind = 'send' then -t.amount else t.amount end, t.kind, t.packet_id, t.note, t.user_id, 0, '', '', ''
	from /*one*/ entries /*end*/ e cross join lateral (
		select id, at, amount, kind, packet_id, note, user_id from ` + tables.Named("transfers", "x") + `
		where packet_id = e.body::jsonb ->> case e.kind when 'packet' then 'id' else 'packet' end
			and kind = case e.kind when 'packet' then 'send' else 'refund' end and kind in ('send', 'refund') offset 0) t
	where e.link = any($1::bigint[]) and e.kind in ('packet', 'packet_done')`

func scanLedgerRow(rs tables.Row) (r eventlog.LedgerRow, err error) {
	t := &r.Transfer
	err = rs.Scan(&r.Link, &t.ID, tables.Time(&t.At), &t.Amount, &t.Kind, &t.Packet, &t.Note, &t.User, &t.Share, &t.Actor, &t.RequestID, &t.Reason)
	return r, err
}

// LedgerAfter implements redpacket.Ledger.
func (s *Store) LedgerAfter(ctx context.Context, text string, limit int) (page redpacket.LedgerPage, err error) {
	after, err := eventlog.ParseLedgerCursor(text)
	if err != nil {
		return redpacket.LedgerPage{}, err
	}
	page.More = true
	for range readsPerPage {
		var taken []redpacket.LedgerTransfer
		if taken, page.More, err = s.ledgerPart(ctx, &after, limit-len(page.Transfers)); err != nil {
			return redpacket.LedgerPage{}, tables.Outcome("read the ledger", err)
		}
		page.Transfers = append(page.Transfers, taken...)
		if !page.More || len(page.Transfers) == limit {
			break
		}
	}
	page.Next = eventlog.LedgerCursor(after)
	return page, nil
}

// ledgerPart reads the transfers of some links, and moves the cursor. more says that there may be more now.
func (s *Store) ledgerPart(ctx context.Context, after *eventlog.Cursor, limit int) (taken []redpacket.LedgerTransfer, more bool, err error) {
	var state eventState
	err = s.withEventState(ctx, &state, func(r reader) error {
		if after.Check(state.epoch, 0) != nil {
			return redpacket.ErrLedgerEpoch
		}
		var chains, ids []int64
		for chain, id := range after.Read {
			chains, ids = append(chains, chain), append(ids, id)
		}
		links, err := tables.List(r, func(rs tables.Row) (l eventlog.LinkKey, err error) {
			err = rs.Scan(&l.Chain, &l.ID)
			return l, err
		}, readLinks, chains, ids, linksPerRead)
		if err != nil || len(links) == 0 {
			taken, more = nil, false
			return err
		}
		list := make([]int64, len(links))
		for i, l := range links {
			list[i] = l.ID
		}
		found, err := tables.List(r, scanLedgerRow, readLinkTransfers, list, list[0], list[len(list)-1])
		if err != nil {
			return err
		}
		var whole bool
		var next eventlog.Cursor
		taken, next, whole = eventlog.ReadLedger(*after, state.epoch, links, found, limit)
		*after, more = next, !whole || len(links) == linksPerRead
		return nil
	})
	return taken, more, err
}
