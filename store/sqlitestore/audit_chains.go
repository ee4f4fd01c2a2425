package sqlitestore

import (
	"database/sql"
	"errors"
	"iter"

	"hongbao/store/chain"
)

// chains verifies the hash chains. It reads all tables side by side, ordered by link.
func (a *auditor) chains() error {
	v := chain.Verifier{Report: a.report, Anchors: a.asked.Heads, Since: a.asked.Since}
	err := v.Verify(stream(a.querier, a.scope.Replace(linkRows), scanLink),
		chain.Rows{Kind: "entry", All: stream(a.querier, a.scope.Replace(entryRows+` where {newer} order by e.link`), scanRow[chain.StoredEntry])},
		chain.Rows{Kind: "packet", All: stream(a.querier, a.scope.Replace(packetRows+` where {newer} order by link`), scanRow[chain.StoredPacket])},
		chain.Rows{Kind: "claim", All: stream(a.querier, a.scope.Replace(claimRows+` where {newer} order by link`), scanRow[chain.StoredClaim])},
		chain.Rows{Kind: "transfer", All: stream(a.querier, a.scope.Replace(transferRows+` and {newer} order by link`), scanRow[chain.StoredTransfer])})
	a.found.Heads = v.Heads()
	return err
}

// stream reads the rows of a query one by one. Several streams can be read side by side.
func stream[T any](q querier, query string, scan func(*sql.Rows) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		rs, err := q.query(query)
		if err != nil {
			yield(*new(T), err)
			return
		}
		for rs.Next() {
			one, err := scan(rs)
			if !yield(one, err) || err != nil {
				_ = rs.Close() // the rest is not wanted
				return
			}
		}
		if err := errors.Join(rs.Err(), rs.Close()); err != nil {
			yield(*new(T), err)
		}
	}
}

func scanLink(rs *sql.Rows) (l chain.StoredLink, err error) {
	err = rs.Scan(&l.ID, &l.Prev, &l.At, &l.Leaves, &l.Hash)
	return l, err
}

// scanRow scans the columns that T names.
func scanRow[T any, P interface {
	*T
	chain.Stored
}](rs *sql.Rows) (chain.StoredRow, error) {
	stored := P(new(T))
	err := rs.Scan(stored.Into()...)
	return stored.Row(), err
}

// linkRows reads all links in their order.
const linkRows = `select id, prev, at, leaves, hash from {links} l order by id`

// Queries for the chained columns.
const (
	entryRows    = chain.EntryRows
	claimRows    = chain.ClaimRows
	transferRows = chain.TransferRows
)

var packetRows = chain.PacketRows(`shares`, `recipients`)

// chainChecks find what chain.Verifier cannot see: wrong values in columns that no leaf contains, chains without links, and
// texts or names that were erased without a recall.
var chainChecks = []check{
	{"transfer", `select id, format('a %s is in a hash chain, which derives it from a packet or a claim', kind)
		from transfers where link <> 0 and kind not in ('credit', 'debit')`},
	{"transfer", `select id, format('a %s has no words, actor, request or reason of its own', kind)
		from transfers where kind not in ('credit', 'debit') and (note, actor, request_id, reason) <> ('', '', '', '')`},
	{"link", `select cast(l.id as text), format('it is of chain %d, which is not in the list of chains', l.chain)
		from {links} l left join chains c on c.id = l.chain where c.id is null or l.id & 1048575 <> l.chain`},
	{"chain", `select cast(c.id as text), 'it has no links' from chains c where not exists (select 1 from links where chain = c.id)`},

	{"room", `select e.room_id, format('entry %d and its key are not remembered as one request', e.seq)
		from {entries} e left join requests r on r.user_id = e.sender and r.key = e.key
		where e.key <> '' and (r.room_id, r.seq) is not (e.room_id, e.seq)`},

	{"room", `select e.room_id, format('the text of entry %d is erased, and no recall says so', e.seq)
		from {entries} e left join (select distinct room_id, target from entries where kind = 'recall') r
			on r.room_id = e.room_id and r.target = case e.kind when 'edit' then e.target else e.seq end
		where (length(e.text_seal) = 32 or e.body in ('{"recalled":true}', format('{"target":%d,"recalled":true}', e.target)))
			and (r.target is null or e.kind not in ('text', 'edit'))`},
	{"room", `select e.room_id, format('entry %d was recalled, and still has a text', e.seq)
		from {entries} r join entries e on e.room_id = r.room_id and case e.kind when 'edit' then e.target else e.seq end = r.target
		where r.kind = 'recall' and e.body <> case e.kind when 'edit' then format('{"target":%d,"recalled":true}', e.target) else '{"recalled":true}' end`},
	{"room", `select room_id, format('the name of the sender of entry %d is erased', seq) from {entries} e where length(name_seal) = 32`},
	{"packet", `select id, 'its words, or the name of its sender, are erased' from {packets} p
		where length(name_seal) = 32 or length(text_seal) = 32`},
}
