package tables

import (
	"context"
	"errors"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/secret"
)

// ClaimsQuery reads the claims of the packet $1, ordered by share, for ScanPaid.
var ClaimsQuery = FirstOnCitus(Of("c", "claims", `packet_id = $1 and bucket = bucket_of($1)`)) + `select ` + paidColumns("c", "u") + `
	from /*one*/ claims /*end*/ c left join users u on u.id = c.user_id where c.packet_id = $1 order by c.share_no`

// bookQuery reads the packet $1, without its claims, for scanBook.
const bookQuery = `select ` + packetColumns + `, p.status, p.refunded, p.drawn_at, p.participants, p.root, ` + CutColumns + ` from packets p where p.id = $1 /*! and p.bucket = bucket_of($1) */`

// scanBook returns a function that scans a row of bookQuery. The book has no claims yet. The function fails if the seed or
// the passphrase cannot be decrypted. There is one exception: if a closed packet's key is gone, its passphrase stays encrypted.
func scanBook(d Dialect, keys *secret.Keys) func(Row) (redpacket.Book, error) {
	return func(row Row) (b redpacket.Book, err error) {
		var (
			stored  storedPacket
			columns secret.Columns
			draw    redpacket.Drawn
		)
		if err := row.Scan(append(append(stored.Into(d), &b.Status, &b.Refunded, timeOrZero(&draw.At), &draw.Participants, &draw.Root), CutInto(d, &columns)...)...); err != nil {
			return redpacket.Book{}, err
		}
		if !draw.At.IsZero() {
			draw.Parts = columns.Parts
			b.Draw = &draw
		}
		if b.Packet, err = stored.Packet(keys); err == nil {
			b.Seed, b.Shares, err = keys.Cut(b.Packet, columns)
		}
		return b, err
	}
}

// QueueBook makes the batch read the packet and its claims into the book, which stays empty if there is no such packet. These are two
// statements: they must see one snapshot, or the packet's row must be locked.
func QueueBook(q Querier, b *Batch, packet string, book *redpacket.Book) {
	*book = redpacket.Book{}
	b.Each(func(row Row) (err error) {
		*book, err = scanBook(q, q.Keys())(row)
		return err
	}, bookQuery, packet)
	b.Each(func(row Row) error {
		paid, err := ScanPaid(row)
		book.Claims = append(book.Claims, paid)
		return err
	}, ClaimsQuery, packet)
}

// Book implements redpacket.Ledger.
func (t Tables) Book(ctx context.Context, packet string) (book redpacket.Book, err error) {
	if !t.db.Storable(packet) {
		return redpacket.Book{}, chat.ErrNotFound
	}
	err = t.db.ReadBatch(ctx, func(q Querier, b *Batch) { QueueBook(q, b, packet, &book) })
	if err = found(err, book.Packet.ID); err != nil {
		return redpacket.Book{}, Outcome("read book", err)
	}
	return book, nil
}

// found returns chat.ErrNotFound if no packet was read, so that its id is "".
func found(err error, id string) error {
	if err == nil && id == "" {
		return chat.ErrNotFound
	}
	return err
}

// ReadBook reads a packet and its claims, or returns chat.ErrNotFound. It uses two statements: q must read from one
// snapshot, or the packet's row must be locked.
func ReadBook(q Querier, packet string) (redpacket.Book, error) {
	b, err := one(q, scanBook(q, q.Keys()), bookQuery, packet)
	if err == nil {
		b.Claims, err = List(q, ScanPaid, ClaimsQuery, packet)
	}
	return b, err
}

// storyTransfers reads the transfers of the packet $1: the sending first, then the claims by share, and the refund last.
var storyTransfers = FirstOnCitus(Of("c", "claims", `packet_id = $1 and bucket = bucket_of($1)`),
	Of("t", "transfers", `packet_id = $1 and kind in ('send', 'refund')`),
	Of("w", "transfers", `(user_id, at, id) in (select user_id, at, transfer from c)`)) + `
select id, at, amount, kind, packet_id, note, user_id, share_no from (
	select t.id, t.at, case when t.kind = 'send' then -t.amount else t.amount end as amount, t.kind, t.packet_id, t.note, t.user_id, 0 as share_no
		from /*one*/ transfers /*end*/ t where t.packet_id = $1 and t.kind in ('send', 'refund')
	union all
	select t.id, t.at, t.amount, t.kind, t.packet_id, t.note, t.user_id, c.share_no
		from /*one*/ claims /*end*/ c join ` + Named("transfers", "w") + ` t on t.user_id = c.user_id and t.at = c.at and t.id = c.transfer where c.packet_id = $1) t
order by case kind when 'send' then 0 when 'claim' then 1 else 2 end, share_no`

var storyEntries = FirstOnCitus(Of("p", "packets", `id = $1 and bucket = bucket_of($1)`)) + `select ` + EntryColumns + ` from entries
	where room_id = (select room_id from ` + Named("packets", "p") + ` where id = $1)
		and seq in (select seq from ` + Named("packets", "p") + ` where id = $1
			union all select done_seq from ` + Named("packets", "p") + ` where id = $1) order by seq`

// Story implements redpacket.Ledger.
func (t Tables) Story(ctx context.Context, packet string) (story redpacket.Story, err error) {
	if !t.db.Storable(packet) {
		return redpacket.Story{}, chat.ErrNotFound
	}
	err = t.db.Snapshot(ctx, func(q Querier) (err error) {
		story = redpacket.Story{}
		if story.Book, err = ReadBook(q, packet); err != nil && !errors.Is(err, chat.ErrNotFound) {
			return err
		}
		if _, err = q.Row(`select coalesce(closed_at, 0) from packets where id = $1 /*! and bucket = bucket_of($1) */`, []any{packet},
			timeOrZero(&story.ClosedAt)); err != nil {
			return err
		}
		if story.Transfers, err = List(q, into(func(t *redpacket.LedgerTransfer) []any {
			return []any{&t.ID, Time(&t.At), &t.Amount, &t.Kind, &t.Packet, &t.Note, &t.User, &t.Share}
		}), storyTransfers, packet); err != nil {
			return err
		}
		if story.Entries, err = List(q, ScanEntry, storyEntries, packet); err != nil {
			return err
		}
		story.Quarantined, err = List(q, scanQuarantined, `select `+quarantineColumns+` from quarantine where packet_id = $1 order by id`, packet)
		return errors.Join(err, t.quarantineStates(q, story.Quarantined))
	})
	if err == nil && story.Book.Packet.ID == "" && len(story.Quarantined) == 0 {
		err = chat.ErrNotFound
	}
	if err != nil {
		return redpacket.Story{}, Outcome("read the story of a packet", err)
	}
	return story, nil
}

const quarantineColumns = `id, at, packet_id, user_id, share_no, why`

// scanQuarantined scans quarantineColumns. The state is left out: see quarantineStates.
var scanQuarantined = into(func(q *redpacket.Quarantined) []any {
	return []any{&q.ID, Time(&q.At), &q.Packet, &q.User, &q.Share, &q.Why}
})

// quarantineStates sets the states of claims in quarantine. It reads each table in a statement of its own: on Citus, the quarantine is
// on the coordinator and the other tables are not.
func (t Tables) quarantineStates(q Querier, claims []redpacket.Quarantined) error {
	if len(claims) == 0 {
		return nil
	}
	var packets, users []string
	for _, c := range claims {
		packets, users = append(packets, c.Packet), append(users, c.User)
	}
	status := map[string]redpacket.Status{}
	err := q.Each(func(row Row) error {
		var (
			id string
			s  redpacket.Status
		)
		err := row.Scan(&id, &s)
		status[id] = s
		return err
	}, `select id, status from packets where id `+t.db.In(1)+` /*! and bucket = any(buckets_of($1::text[])) */`, t.db.List(packets))
	if err != nil {
		return err
	}
	type claim struct {
		packet, user string
		share        int64 // only of a rain, where a user may have several
	}
	paid := map[claim]bool{}
	err = q.Each(func(row Row) error {
		var c claim
		err := row.Scan(&c.packet, &c.user, &c.share)
		paid[c] = true
		return err
	}, `select packet_id, user_id, case when wave > 0 then share_no else -1 end from claims where packet_id `+t.db.In(1)+` and user_id `+t.db.In(2)+` /*! and bucket = any(buckets_of($1::text[])) */`,
		t.db.List(packets), t.db.List(users))
	for i := range claims {
		switch c := &claims[i]; {
		case paid[claim{c.Packet, c.User, -1}], paid[claim{c.Packet, c.User, c.Share}]:
			c.State = redpacket.QuarantinePaid
		case status[c.Packet] == "":
			c.State = redpacket.QuarantineLost
		case status[c.Packet] == redpacket.Open:
			c.State = redpacket.QuarantineUnpaid
		default:
			c.State = redpacket.QuarantineEnded
		}
	}
	return err
}

// QuarantinedAfter implements redpacket.Ledger.
func (t Tables) QuarantinedAfter(ctx context.Context, after int64, limit int) (claims []redpacket.Quarantined, err error) {
	err = t.db.Snapshot(ctx, func(q Querier) (err error) {
		if claims, err = List(q, scanQuarantined, `select `+quarantineColumns+` from quarantine where id > $1 order by id limit $2`, after, limit); err != nil {
			return err
		}
		return t.quarantineStates(q, claims)
	})
	return claims, Outcome("list claims in quarantine", err)
}
