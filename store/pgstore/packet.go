package pgstore

import (
	"context"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/secret"
	"hongbao/store/tables"
)

// Image implements redpacket.Ledger. It runs two statements in one round trip, and the second may see later commits
// than the first. Claims are only added, so the image of a closed packet is complete.
func (s *Store) Image(ctx context.Context, id string) (i redpacket.Image, err error) {
	if !(pg.Dialect{}).Storable(id) {
		return redpacket.Image{}, chat.ErrNotFound
	}
	err = s.withReader(ctx, func(r reader) error {
		i = redpacket.Image{}
		b := &pgx.Batch{}
		b.Queue(`select id, partition, count, expires_at, status from packets where id = $1 /*! and bucket = bucket_of($1) */`, id).QueryRow(func(row pgx.Row) error {
			return noRowsOK(row.Scan(&i.ID, &i.Partition, &i.Count, tables.Time(&i.Deadline), &i.Status))
		})
		b.Queue(`select user_id, share_no from claims where packet_id = $1 /*! and bucket = bucket_of($1) */ order by share_no`, id).Query(func(rs pgx.Rows) (err error) {
			i.Grants, err = pg.Collect(rs, scanGrant)
			return err
		})
		if err := r.SendBatch(b); err != nil {
			return err
		}
		return foundPacket(i.ID)
	})
	if err != nil {
		return redpacket.Image{}, tables.Outcome("read image", err)
	}
	return i, nil
}

// noRowsOK returns nil for pgx.ErrNoRows. As the result of a callback, that error would make the driver discard what
// it has cached about all statements of the batch.
func noRowsOK(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return err
}

// foundPacket returns chat.ErrNotFound if no packet was read, so that its id is "".
func foundPacket(id string) error {
	if id == "" {
		return chat.ErrNotFound
	}
	return nil
}

func scanGrant(rs tables.Row) (g redpacket.Grant, err error) {
	err = rs.Scan(&g.User, &g.Share)
	return g, err
}

// shares returns the amounts of the shares of those packets that exist. A packet whose shares cannot be decrypted is in
// unreadable, with the reason; in cut it has no amounts.
func (s *Store) shares(q querier, packets []string) (cut map[string][]redpacket.Money, unreadable map[string]error, err error) {
	cut, unknown := s.cuts.Cached(packets)
	if len(unknown) == 0 {
		return cut, nil, nil
	}
	read, err := tables.List(q, scanCut, `select p.id, p.sender, p.key, p.mode, p.spread, p.total, p.count, `+tables.CutColumns+`
		from packets p where p.id = any($1) /*! and p.bucket = any(buckets_of($1::text[])) */`, unknown)
	if err != nil {
		return nil, nil, err
	}
	unreadable = map[string]error{}
	for _, p := range read {
		if _, cut[p.packet.ID], err = s.keys.Cut(p.packet, p.columns); err != nil {
			unreadable[p.packet.ID] = err
			continue
		}
		s.cuts.Put(p.packet.ID, cut[p.packet.ID])
	}
	return cut, unreadable, nil
}

// storedCut is how one packet is cut, with the columns from which the shares follow.
type storedCut struct {
	packet  redpacket.Packet
	columns secret.Columns
}

func scanCut(rs tables.Row) (s storedCut, err error) {
	p := &s.packet
	err = rs.Scan(append([]any{&p.ID, &p.From.ID, &p.Key, &p.Mode, &p.Spread, &p.Total, &p.Count}, tables.CutInto(pg.Dialect{}, &s.columns)...)...)
	return s, err
}

// Details implements redpacket.Ledger.
func (s *Store) Details(ctx context.Context, q redpacket.DetailsQuery) (d redpacket.DetailsPage, err error) {
	if !(pg.Dialect{}).Storable(q.Packet) {
		return redpacket.DetailsPage{}, chat.ErrNotFound
	}
	err = s.withReader(ctx, func(r reader) error {
		if err := r.SendBatch(oneSnapshot(func(batch *pgx.Batch) { r.queueDetails(batch, q, &d) })); err != nil {
			return err
		}
		return foundPacket(d.Packet.ID)
	})
	if err != nil {
		return redpacket.DetailsPage{}, tables.Outcome("read details", err)
	}
	return d, nil
}

// queueDetails makes the batch read the page into d, which stays empty if there is no such packet. Seed and shares of an
// open packet are secret, so they are not read.
func (r reader) queueDetails(batch *pgx.Batch, q redpacket.DetailsQuery, d *redpacket.DetailsPage) {
	*d = redpacket.DetailsPage{}
	batch.Queue(tables.StateTables(`bucket = bucket_of($2)`, `id = $2`)+`select `+tables.PacketColumns+`, `+tables.StateColumns+`,
			case when p.status <> 'open' then p.seed end, case when p.status <> 'open' then p.shares end
		from /*one*/ packets /*end*/ p`+tables.StateJoins(pg.Dialect{})+`where p.id = $2`, q.User, q.Packet).QueryRow(func(row pgx.Row) (err error) {
		var (
			stored tables.StoredPacket
			state  tables.StoredState
		)
		dest := append(stored.Into(pg.Dialect{}), state.Into()...)
		if err := row.Scan(append(dest, storedSeed{&d.Seed}, &d.Shares)...); err != nil {
			return noRowsOK(err)
		}
		d.State = state.State()
		d.Packet, err = stored.Packet(r.DataKeys)
		return err
	})
	batch.Queue(claimsAfter, q.Packet, min(q.AfterRank, math.MaxInt32), q.Limit+1).Query(func(rs pgx.Rows) (err error) {
		if d.Claims, err = pg.Collect(rs, tables.ScanPaid); len(d.Claims) > q.Limit {
			d.Claims, d.More = d.Claims[:q.Limit], true
		}
		return err
	})
}

// claimsAfter reads a page of claims of the packet $1, ordered by share and from share $2 on. It selects the page
// before it joins the users. Otherwise, for a packet newer than the table's statistics, Postgres would join the users
// of all its claims.
var claimsAfter = tables.FirstOnCitus(
	tables.Of("c", "claims", `packet_id = $1 and bucket = bucket_of($1) and share_no >= $2 order by share_no limit $3`)) + `select ` + tables.PaidColumns("c", "u") + `
	from /*one*/ (select share_no, amount, at, user_id from claims where packet_id = $1 and share_no >= $2 order by share_no limit $3) /*end*/ c
	left join users u on u.id = c.user_id order by c.share_no`

// Book implements redpacket.Ledger.
func (s *Store) Book(ctx context.Context, packet string) (b redpacket.Book, err error) {
	if !(pg.Dialect{}).Storable(packet) {
		return redpacket.Book{}, chat.ErrNotFound
	}
	err = s.withReader(ctx, func(r reader) error {
		if err := r.SendBatch(oneSnapshot(func(batch *pgx.Batch) { r.queueBook(batch, packet, &b) })); err != nil {
			return err
		}
		return foundPacket(b.Packet.ID)
	})
	if err != nil {
		return redpacket.Book{}, tables.Outcome("read book", err)
	}
	return b, nil
}

// oneSnapshot returns a batch whose queued statements all see one snapshot, in one round trip. If a statement fails,
// the connection stays in a transaction, so the pool closes it on release.
func oneSnapshot(queue func(b *pgx.Batch)) *pgx.Batch {
	b := &pgx.Batch{}
	b.Queue(`begin read only, isolation level repeatable read`)
	queue(b)
	b.Queue(`commit`)
	return b
}

// queueBook makes the batch read the packet and its claims into b, which stays empty if there is no such packet.
// These are two statements: they must see one snapshot, or the packet's row must be locked.
func (r reader) queueBook(batch *pgx.Batch, packet string, b *redpacket.Book) {
	*b = redpacket.Book{}
	batch.Queue(tables.BookQuery, packet).QueryRow(func(row pgx.Row) (err error) {
		*b, err = tables.ScanBook(r, r.DataKeys)(row)
		return noRowsOK(err)
	})
	batch.Queue(tables.ClaimsQuery, packet).Query(func(rs pgx.Rows) (err error) {
		b.Claims, err = pg.Collect(rs, tables.ScanPaid)
		return err
	})
}

// Packets implements redpacket.Ledger, in one round trip. A received packet counts at the time of its claim.
// Totals.Amount of sent packets is their total less their refunds. Totals.Luckiest counts the received packets in which
// the user's claim is the luckiest; it is 0 for sent packets.
func (s *Store) Packets(ctx context.Context, q redpacket.PacketsQuery) (page redpacket.PacketsPage, err error) {
	totals, list, err := tables.PacketsPage(pg.Dialect{}, q)
	if err != nil {
		return redpacket.PacketsPage{}, err
	}
	err = s.withReader(ctx, func(r reader) error {
		return r.SendBatch(oneSnapshot(func(b *pgx.Batch) {
			b.Queue(totals.Text, totals.Args...).QueryRow(func(row pgx.Row) error {
				return row.Scan(&page.Totals.Count, &page.Totals.Amount, &page.Totals.Luckiest)
			})
			b.Queue(list.Text, list.Args...).Query(func(rs pgx.Rows) error {
				listed, err := pg.Collect(rs, tables.ScanPacket(r, r.DataKeys))
				page.Packets, page.Next = tables.OnePage(q, listed)
				return err
			})
		}))
	})
	if err != nil {
		return redpacket.PacketsPage{}, tables.Outcome("list packets", err)
	}
	return page, nil
}

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

// Quarantine implements redpacket.Ledger. Ids that Postgres cannot store are changed to similar ones that it can.
func (s *Store) Quarantine(ctx context.Context, claims []redpacket.Claim, why string) error {
	n := len(claims)
	ats, packets, shares, users := make([]int64, n), make([]string, n), make([]int64, n), make([]string, n)
	for i, c := range claims {
		ats[i], packets[i], shares[i], users[i] = c.At.UnixMilli(), storableText(c.ID), int64(c.Share), storableText(c.User)
	}
	return tables.Outcome("quarantine claims", s.tx(ctx, func(w *writer) error {
		_, err := w.Exec(`insert into quarantine (at, packet_id, share_no, user_id, why)
			select at, packet_id, share_no, user_id, $5
			from unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[]) i (at, packet_id, share_no, user_id)
			on conflict do nothing`, ats, packets, shares, users, storableText(why))
		return err
	}))
}

// longestName is the most bytes that storableText leaves of a text, so that the index of the table quarantine accepts it.
const longestName = 500

// storableText replaces what Postgres refuses in a text, invalid UTF-8 and the character U+0000, by U+FFFD. Then it cuts the text
// to longestName bytes.
func storableText(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
	if len(text) > longestName {
		text = strings.ToValidUTF8(text[:longestName], "")
	}
	return text
}
