package stream

import (
	"hongbao/store/eventlog"
	"hongbao/store/tables"
)

// readLinks reads at most $3 links: of each chain those after its position ($1, $2).
const readLinks = `select l.chain, l.id, l.at, l.leaves from ` + streamChains + ` left join unnest($1::bigint[], $2::bigint[]) v (chain, id) on v.chain = c.id
	cross join lateral (select chain, id, at, leaves from links where chain = c.id and id > coalesce(v.id, 0) order by id limit $3) l
	order by l.id limit $3`

// readLinkTransfers reads the transfers of the links $1. $2 and $3 are the least and the greatest of the links: the index claims_link needs a range.
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

// Links implements tables.StreamReader.
func (r Reader) Links(after map[int64]int64, limit int) ([]eventlog.LinkKey, error) {
	numbers, ids := positions(after)
	return tables.List(r, tables.ScanLinkKey, readLinks, numbers, ids, limit)
}

// LinkRows implements tables.StreamReader.
func (r Reader) LinkRows(links []eventlog.LinkKey) (map[int64]eventlog.LinkRows, error) {
	const of = ` where link between $2 and $3 and link = any($1::bigint[])`
	return tables.CountLinkRows(r, linkArgs(links),
		`select link, count(*), count(*) filter (where kind = 'packet' or kind = 'packet_done' and (body::jsonb #>> '{state,refunded}')::bigint > 0)
			from entries`+of+` group by link`,
		`select link, count(*), 0 from packets`+of+` group by link`,
		`select link, count(*), 0 from claims`+of+` group by link`,
		`select link, count(*), 0 from transfers`+of+` and link <> 0 group by link`)
}

// LinkTransfers implements tables.StreamReader.
func (r Reader) LinkTransfers(links []eventlog.LinkKey) ([]eventlog.LedgerRow, error) {
	return tables.List(r, tables.ScanLedgerRow, readLinkTransfers, linkArgs(links)...)
}

// linkArgs returns the ids of the links, and the least and the greatest of them.
func linkArgs(links []eventlog.LinkKey) []any {
	ids := make([]int64, len(links))
	for i, l := range links {
		ids[i] = l.ID
	}
	return []any{ids, ids[0], ids[len(ids)-1]}
}
