package audit

import (
	"iter"
	"strings"

	"hongbao/store/chain"
	"hongbao/store/tables"
)

// chains verifies the hash chains. It reads the links and the chained tables side by side, each with a cursor and ordered by link.
func (a *auditor) chains() error {
	v := chain.Verifier{Report: a.report, Anchors: a.asked.Heads, Since: a.asked.Since}
	links, rows := chained(a.Snapshot, a.Dialect, a.scope)
	err := v.Verify(links, rows...)
	a.found.Heads = v.Heads()
	return err
}

// Chained returns the links and the rows of all hash chains. The links, and the rows of each table, are ordered by the id of the link.
func Chained(db Snapshot, d Dialect) (links iter.Seq2[chain.StoredLink, error], rows []chain.Rows) {
	return chained(db, d, whole)
}

func chained(db Snapshot, d Dialect, scope *strings.Replacer) (links iter.Seq2[chain.StoredLink, error], rows []chain.Rows) {
	add := func(kind, query string, scan func(tables.Row) (chain.StoredRow, error)) {
		rows = append(rows, chain.Rows{Kind: kind, All: stream(db, kind, scope.Replace(query), scan)})
	}
	add("entry", chain.EntryRows+` where {newer} order by e.link`, scanRow[chain.StoredEntry])
	add("packet", chain.PacketRows(d.Shares, d.Recipients)+` where {newer} order by link`, scanRow[chain.StoredPacket])
	add("claim", chain.ClaimRows+` where {newer} order by link`, scanRow[chain.StoredClaim])
	add("participant", chain.ParticipantRows+` where {newer} order by link`, scanRow[chain.StoredParticipant])
	add("wave", chain.WaveRows(d.Winners)+` where {newer} order by link`, scanRow[chain.StoredWave])
	add("draw", chain.DrawRows+` where {newer} order by link`, scanRow[chain.StoredDraw])
	add("transfer", chain.TransferRows+` and {newer} order by link`, scanRow[chain.StoredTransfer])
	return stream(db, "link", scope.Replace(linkRows), scanLink), rows
}

// cursorStep is the number of rows that a cursor reads at once.
const cursorStep = 1000

// stream reads the rows of a query by a cursor.
func stream[T any](db Snapshot, name, query string, scan func(tables.Row) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		c, err := db.Open(name, query)
		if err != nil {
			yield(none, err)
			return
		}
		defer func() { _ = c.Close() }() // the snapshot ends soon
		for read := cursorStep; read == cursorStep; {
			var some []T
			read, err = c.Next(cursorStep, func(row tables.Row) error {
				one, err := scan(row)
				some = append(some, one)
				return err
			})
			if err != nil {
				yield(none, err)
				return
			}
			for _, one := range some {
				if !yield(one, nil) {
					return
				}
			}
		}
	}
}

func scanLink(row tables.Row) (l chain.StoredLink, err error) {
	err = row.Scan(&l.ID, &l.Prev, &l.At, &l.Leaves, &l.Hash)
	return l, err
}

// scanRow scans a row into a T, and returns its link and leaf.
func scanRow[T any, P interface {
	*T
	chain.Stored
}](row tables.Row) (chain.StoredRow, error) {
	stored := P(new(T))
	err := row.Scan(stored.Into()...)
	return stored.Row(), err
}

// linkRows reads the links of the scope, ordered by id.
const linkRows = `select id, prev, at, leaves, hash from {links} l order by id`

// chainChecks find what chain.Verifier cannot see:
//
//   - wrong values in columns of transfers that no leaf contains,
//   - chains without links, and links whose chain is not listed in the table chains,
//   - entries with a key for which the table requests does not name that entry,
//   - texts erased without a recall or a retention, or recalled or retired without being erased,
//   - names of senders, greetings, passphrases and reactions that are erased although nobody has asked to erase the user (table erasures),
//   - names and words of a user that are still there although the erasure of the user is done.
var chainChecks = []check{
	{"transfer", `select id, format('a %s is in a hash chain, which derives it from a packet or a claim', kind)
		from transfers where link <> 0 and kind not in ('credit', 'debit')`},
	{"transfer", `select id, format('a %s has no words, actor, request or reason of its own', kind)
		from transfers where kind not in ('credit', 'debit') and (note, actor, request_id, reason) <> ('', '', '', '')`},
	{"link", `select cast(l.id as text), format('it is of chain %s, which is not in the list of chains', l.chain)
		from {links} l left join chains c on c.id = l.chain where c.id is null or l.id & 1048575 <> l.chain`},
	{"chain", `select cast(c.id as text), 'it has no links' from chains c where not exists (select 1 from links where chain = c.id)`},

	{"room", `select e.room_id, format('entry %s and its key are not remembered as one request', e.seq)
		from {entries} e left join requests r on r.user_id = e.sender and r.key = e.key
		where e.key <> '' and (r.room_id, r.seq) is distinct from (e.room_id, e.seq)`},
	{"room", `select e.room_id, format('the text of entry %s is erased, and no recall says so', e.seq)
		from {entries} e left join (select distinct room_id, target from entries where kind = 'recall') r
			on r.room_id = e.room_id and r.target = case e.kind when 'edit' then e.target else e.seq end
		where (octet_length(e.text_seal) = 32 or e.body in ('{"recalled":true}', '{"recalled":true,"retired":true}', format('{"target":%s,"recalled":true}', e.target)))
			and (r.target is null or e.kind not in ('text', 'edit'))
			and not exists (select 1 from {erasures} x where x.user_id = e.sender and (e.kind = 'packet' or e.kind = 'react' and x.texts))
			and not exists (select 1 from {retention} t where t.room_id = e.room_id and (e.kind = 'text' and e.seq <= t.seq or e.kind = 'edit' and e.target <= t.seq))`},
	{"room", `select e.room_id, format('the retention has passed entry %s, and it still has a text', e.seq)
		from {entries} e join {retention} t on t.room_id = e.room_id
		where e.kind = 'text' and e.seq <= t.seq and (e.body, e.fold) <> ('{"recalled":true,"retired":true}', format('{"recall_seq":%s}', e.seq))
				and not (e.body = '{"recalled":true}' and e.fold like '{"recall_seq":%')
			or e.kind = 'edit' and e.target <= t.seq and e.body <> format('{"target":%s,"recalled":true}', e.target)`},
	{"room", `select e.room_id, format('entry %s was recalled, and still has a text', e.seq)
		from {entries} r join entries e on e.room_id = r.room_id and case e.kind when 'edit' then e.target else e.seq end = r.target
		where r.kind = 'recall' and e.body <> case e.kind when 'edit' then format('{"target":%s,"recalled":true}', e.target) else '{"recalled":true}' end`},
	{"room", `select room_id, format('the name of the sender of entry %s is erased, and nobody has asked for that', seq) from {entries} e
		where octet_length(name_seal) = 32 and not exists (select 1 from {erasures} x where x.user_id = e.sender)`},
	{"packet", `select id, 'its words, or the name of its sender, are erased, and nobody has asked for that' from {packets} p
		where (octet_length(name_seal) = 32 or octet_length(text_seal) = 32) and not exists (select 1 from {erasures} x where x.user_id = p.sender)`},
	{"user", `select x.user_id, format('the erasure is done, and entry %s of room %s still has a name or words of the user', e.seq, e.room_id)
		from {erasures} x join {entries} e on e.sender = x.user_id
		where x.done_at > 0 and ((e.sender_name, e.sender_avatar) <> ('', '') or x.texts and e.kind = 'text' and e.body not in ('{"recalled":true}', '{"recalled":true,"retired":true}')
			or octet_length(e.text_seal) = 16 and (e.kind = 'packet' or e.kind = 'react' and x.texts))`},
	{"user", `select x.user_id, format('the erasure is done, and packet %s still has a name or words of the user', p.id)
		from {erasures} x join {packets} p on p.sender = x.user_id
		where x.done_at > 0 and (p.sender_name, p.sender_avatar, p.greeting, p.passphrase) <> ('', '', '', '')`},
	{"user", `select x.user_id, 'the erasure is done, and the user has a name, or may sign in'
		from {erasures} x left join users u on u.id = x.user_id
		where x.done_at > 0 and (u.name, u.avatar, u.custom, u.ref, u.suspended_at > 0, u.erased_at > 0) is distinct from ('', '', '', '', true, true)`},
}
