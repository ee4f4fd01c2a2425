package sqlitestore

import (
	"context"
	"encoding/json"

	"hongbao/redpacket"
	"hongbao/store/eventlog"
	"hongbao/store/tables"
)

const (
	linksPerRead = 500
	// readsPerPage bounds the links that one page looks at, because most links may have no transfers, but only texts.
	readsPerPage = 40
)

// readLinks reads links after the position of each chain, in the order of their ids.
const readLinks = `select l.chain, l.id from (select id from chains union select 0) c join links l on l.chain = c.id
	where l.id > coalesce((select value from json_each(?) where cast(key as integer) = c.id), 0) order by l.id limit ?`

// readLinkTransfers reads the transfers of links. Sends and refunds are found by the entries of their transactions.
const readLinkTransfers = `
with l as (select value as id from json_each(?))
select c.link, c.transfer, c.at, c.amount, 'claim', c.packet_id, '', c.user_id, c.share_no, '', '', ''
	from l join claims c on c.link = l.id
union all
select t.link, t.id, t.at, iif(t.kind = 'debit', -t.amount, t.amount), t.kind, coalesce(t.packet_id, ''), t.note, t.user_id, 0, t.actor, t.request_id, t.reason
	from l join transfers t on t.link = l.id and t.kind in ('credit', 'debit')
union all
select e.link, t.id, t.at, iif(t.kind = 'send', -t.amount, t.amount), t.kind, t.packet_id, t.note, t.user_id, 0, '', '', ''
	from l join entries e on e.link = l.id and e.kind in ('packet', 'packet_done')
	join transfers t on t.packet_id = iif(e.kind = 'packet', json_extract(e.body, '$.id'), json_extract(e.body, '$.packet'))
		and t.kind = iif(e.kind = 'packet', 'send', 'refund') and t.kind in ('send', 'refund')`

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
		positions, err := json.Marshal(after.Read)
		if err != nil {
			return err
		}
		links, err := tables.List(r, func(rs tables.Row) (l eventlog.LinkKey, err error) {
			err = rs.Scan(&l.Chain, &l.ID)
			return l, err
		}, readLinks, positions, linksPerRead)
		if err != nil || len(links) == 0 {
			return err
		}
		ids := make([]int64, len(links))
		for i, l := range links {
			ids[i] = l.ID
		}
		list, err := json.Marshal(ids)
		if err != nil {
			return err
		}
		found, err := tables.List(r, scanLedgerRow, readLinkTransfers, list)
		if err != nil {
			return err
		}
		var whole bool
		taken, *after, whole = eventlog.ReadLedger(*after, state.epoch, links, found, limit)
		more = !whole || len(links) == linksPerRead
		return nil
	})
	return taken, more, err
}
