package sqlitestore

import (
	"encoding/json"

	"hongbao/store/eventlog"
	"hongbao/store/tables"
)

// readLinks reads links after the position of each chain, in the order of their ids.
const readLinks = `select l.chain, l.id, l.at, l.leaves from (select id from chains union select 0) c join links l on l.chain = c.id
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

// Links implements tables.StreamReader.
func (r reader) Links(after map[int64]int64, limit int) ([]eventlog.LinkKey, error) {
	positions, err := json.Marshal(after)
	if err != nil {
		return nil, err
	}
	return tables.List(r, tables.ScanLinkKey, readLinks, positions, limit)
}

// LinkRows implements tables.StreamReader.
func (r reader) LinkRows(links []eventlog.LinkKey) (map[int64]eventlog.LinkRows, error) {
	list, err := listOf(links)
	if err != nil {
		return nil, err
	}
	const of = ` from json_each(?) l join `
	return tables.CountLinkRows(r, []any{list},
		`select e.link, count(*), count(*) filter (where e.kind = 'packet' or e.kind = 'packet_done' and json_extract(e.body, '$.state.refunded') > 0)`+
			of+`entries e on e.link = l.value group by e.link`,
		`select p.link, count(*), 0`+of+`packets p on p.link = l.value group by p.link`,
		`select c.link, count(*), 0`+of+`claims c on c.link = l.value group by c.link`,
		`select t.link, count(*), 0`+of+`transfers t on t.link = l.value and t.kind in ('credit', 'debit') group by t.link`)
}

// listOf returns the ids of the links as JSON.
func listOf(links []eventlog.LinkKey) ([]byte, error) {
	ids := make([]int64, len(links))
	for i, l := range links {
		ids[i] = l.ID
	}
	return json.Marshal(ids)
}

// LinkTransfers implements tables.StreamReader.
func (r reader) LinkTransfers(links []eventlog.LinkKey) ([]eventlog.LedgerRow, error) {
	list, err := listOf(links)
	if err != nil {
		return nil, err
	}
	return tables.List(r, tables.ScanLedgerRow, readLinkTransfers, list)
}
