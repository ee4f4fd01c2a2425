package pgstore

import (
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"

	"hongbao/store/chain"
)

// chains verifies the hash chains. It reads all tables at once, each by a cursor, ordered by link.
func (a *auditor) chains() error {
	v := chain.Verifier{Report: a.report, Anchors: a.asked.Heads, Since: a.asked.Since}
	err := v.Verify(stream(a.querier, "links", a.scope.Replace(linkRows), scanLink),
		chain.Rows{Kind: "entry", All: stream(a.querier, "entries", a.scope.Replace(entryRows+` where {newer} order by e.link`), scanRow[chain.StoredEntry])},
		chain.Rows{Kind: "packet", All: stream(a.querier, "packets", a.scope.Replace(packetRows+` where {newer} order by link`), scanRow[chain.StoredPacket])},
		chain.Rows{Kind: "claim", All: stream(a.querier, "claims", a.scope.Replace(claimRows+` where {newer} order by link`), scanRow[chain.StoredClaim])},
		chain.Rows{Kind: "transfer", All: stream(a.querier, "transfers", a.scope.Replace(transferRows+` and {newer} order by link`), scanRow[chain.StoredTransfer])})
	a.found.Heads = v.Heads()
	return err
}

// cursorStep is the number of rows that a cursor reads at once.
const cursorStep = 1000

// stream reads the rows of a query by a cursor, so that several queries can be read side by side on one connection. It
// must run in a transaction.
func stream[T any](q querier, name, query string, scan func(pgx.Rows) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		if err := run(q, `declare audited_`+name+` no scroll cursor for `+query); err != nil {
			yield(none, err)
			return
		}
		for {
			some, err := rows(q, scan, fmt.Sprintf(`fetch %d from audited_%s`, cursorStep, name))
			if err != nil {
				yield(none, err)
				return
			}
			for _, one := range some {
				if !yield(one, nil) {
					return
				}
			}
			if len(some) < cursorStep {
				break
			}
		}
		if err := run(q, `close audited_`+name); err != nil {
			yield(none, err)
		}
	}
}

// run runs a statement without a result.
func run(q querier, statement string) error {
	var b pgx.Batch
	b.Queue(statement)
	return q.sendBatch(&b)
}

func scanLink(rs pgx.Rows) (l chain.StoredLink, err error) {
	err = rs.Scan(&l.ID, &l.Prev, &l.At, &l.Leaves, &l.Hash)
	return l, err
}

// scanRow scans the columns that T names.
func scanRow[T any, P interface {
	*T
	chain.Stored
}](rs pgx.Rows) (chain.StoredRow, error) {
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

var packetRows = chain.PacketRows(`array_to_json(shares)::text`, `array_to_json(recipients)::text`)

// chainChecks find what chain.Verifier cannot see: wrong values in columns that no leaf contains, chains without links, and
// texts or names that were erased without a recall.
var chainChecks = []check{
	{"transfer", `select id, format('a %s is in a hash chain, which derives it from a packet or a claim', kind)
		from transfers where link <> 0 and kind not in ('credit', 'debit')`},
	{"transfer", `select id, format('a %s has no words, actor, request or reason of its own', kind)
		from transfers where kind not in ('credit', 'debit') and (note, actor, request_id, reason) <> ('', '', '', '')`},
	{"link", `select l.id::text, format('it is of chain %s, which is not in the list of chains', l.chain)
		from {links} l left join chains c on c.id = l.chain where c.id is null or l.id & 1048575 <> l.chain`},
	{"chain", `select c.id::text, 'it has no links' from chains c where not exists (select from links where chain = c.id)`},

	{"room", `select e.room_id, format('entry %s and its key are not remembered as one request', e.seq)
		from {entries} e left join requests r on r.user_id = e.sender and r.key = e.key
		where e.key <> '' and (r.room_id, r.seq) is distinct from (e.room_id, e.seq)`},
	{"room", `select e.room_id, format('the text of entry %s is erased, and no recall says so', e.seq)
		from {entries} e left join (select distinct room_id, target from entries where kind = 'recall') r
			on r.room_id = e.room_id and r.target = case e.kind when 'edit' then e.target else e.seq end
		where (octet_length(e.text_seal) = 32 or e.body in ('{"recalled":true}', format('{"target":%s,"recalled":true}', e.target)))
			and (r.target is null or e.kind not in ('text', 'edit'))`},
	{"room", `select e.room_id, format('entry %s was recalled, and still has a text', e.seq)
		from {entries} r join entries e on e.room_id = r.room_id and case e.kind when 'edit' then e.target else e.seq end = r.target
		where r.kind = 'recall' and e.body <> case e.kind when 'edit' then format('{"target":%s,"recalled":true}', e.target) else '{"recalled":true}' end`},
	{"room", `select room_id, format('the name of the sender of entry %s is erased', seq) from {entries} e where octet_length(name_seal) = 32`},
	{"packet", `select id, 'its words, or the name of its sender, are erased' from {packets} p
		where octet_length(name_seal) = 32 or octet_length(text_seal) = 32`},
}
