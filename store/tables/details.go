package tables

import (
	"context"
	"math"
	"slices"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/secret"
)

// Image implements redpacket.Ledger.
func (t Tables) Image(ctx context.Context, id string) (i redpacket.Image, err error) {
	if !t.db.Storable(id) {
		return redpacket.Image{}, chat.ErrNotFound
	}
	err = t.db.ReadBatch(ctx, func(_ Querier, b *Batch) {
		i = redpacket.Image{}
		b.Each(func(row Row) (err error) {
			var (
				opens, until int64
				held         string
			)
			if err := row.Scan(&i.ID, &i.Partition, &i.Count, &opens, Time(&i.Deadline), &i.Status, &held, &until); err != nil {
				return err
			}
			i.OpensAt = optional(opens)
			i.Hold, err = redpacket.ParseHold(held, Millis(until))
			return err
		}, `select id, partition, count, opens_at, expires_at, status, held, held_until from packets where id = $1 /*! and bucket = bucket_of($1) */`, id)
		b.Each(func(row Row) error {
			var g redpacket.Grant
			err := row.Scan(&g.User, &g.Share, &g.Wave)
			i.Grants = append(i.Grants, g)
			return err
		}, `select user_id, share_no, wave from claims where packet_id = $1 /*! and bucket = bucket_of($1) */ order by share_no`, id)
	})
	if err = found(err, i.ID); err != nil {
		return redpacket.Image{}, Outcome("read image", err)
	}
	return i, nil
}

// Details implements redpacket.Ledger.
func (t Tables) Details(ctx context.Context, q redpacket.DetailsQuery) (d redpacket.DetailsPage, err error) {
	if !t.db.Storable(q.Packet) {
		return redpacket.DetailsPage{}, chat.ErrNotFound
	}
	err = t.db.ReadBatch(ctx, func(r Querier, b *Batch) { queueDetails(r, b, q, &d) })
	if err == nil && d.State.Draw != nil {
		err = t.db.Read(ctx, func(r Querier) error { return addDraws(r, q.User, &d.State) })
	}
	if err = found(err, d.Packet.ID); err != nil {
		return redpacket.DetailsPage{}, Outcome("read details", err)
	}
	return d, nil
}

// queueDetails makes the batch read the page into d, which stays empty if there is no such packet. Seed and shares of an
// open packet are secret, so they are not read.
func queueDetails(r Querier, b *Batch, q redpacket.DetailsQuery, d *redpacket.DetailsPage) {
	*d = redpacket.DetailsPage{}
	b.Each(func(row Row) (err error) {
		var (
			stored storedPacket
			state  storedState
			cut    secret.Columns
		)
		dest := append(stored.Into(r), state.Into()...)
		if err := row.Scan(append(dest, &cut.Seed, r.Array(&cut.Shares), &cut.Parts)...); err != nil {
			return err
		}
		d.State = state.State()
		if d.Packet, err = stored.Packet(r.Keys()); err == nil && d.State.Status != redpacket.Open {
			d.Seed, d.Shares, err = r.Keys().Cut(d.Packet, cut)
		}
		return err
	}, stateTables(`bucket = bucket_of($2)`, `id = $2`)+`select `+packetColumns+`, `+stateColumns+`,
			case when p.status <> 'open' then p.seed end, case when p.status <> 'open' then p.shares end, p.parts
		from /*one*/ packets /*end*/ p`+stateJoins(r)+`where p.id = $2`, q.User, q.Packet)
	b.Each(func(row Row) error {
		if len(d.Claims) == q.Limit {
			d.More = true
			return nil
		}
		paid, err := ScanPaid(row)
		d.Claims = append(d.Claims, paid)
		return err
	}, claimsAfter, q.Packet, min(q.AfterRank, math.MaxInt32), q.Limit+1)
}

// claimsAfter reads a page of claims of the packet $1, ordered by share and from share $2 on. It selects the page
// before it joins the users. Otherwise, for a packet newer than the table's statistics, Postgres would join the users
// of all its claims.
var claimsAfter = FirstOnCitus(
	Of("c", "claims", `packet_id = $1 and bucket = bucket_of($1) and share_no >= $2 order by share_no limit $3`)) + `select ` + paidColumns("c", "u") + `
	from /*one*/ (select share_no, wave, amount, at, user_id from claims where packet_id = $1 and share_no >= $2 order by share_no limit $3) /*end*/ c
	left join users u on u.id = c.user_id order by c.share_no`

// Packets implements redpacket.Ledger. A received packet counts at the time of its claim. Of each room at most the newest 100 open packets are
// looked at for those that wait; on Citus, of all rooms together at most 500.
// Totals.Amount of sent packets is their total less their refunds. Totals.Luckiest counts the received packets in which
// the user's claim is the luckiest; it is 0 for sent packets.
func (t Tables) Packets(ctx context.Context, q redpacket.PacketsQuery) (page redpacket.PacketsPage, err error) {
	totals, query, err := packetsPage(t.db, q)
	if err != nil {
		return redpacket.PacketsPage{}, err
	}
	var listed []listedPacket
	err = t.db.ReadBatch(ctx, func(r Querier, b *Batch) {
		page, listed = redpacket.PacketsPage{}, nil
		if totals.Text != "" {
			b.Each(func(row Row) error { return row.Scan(&page.Totals.Count, &page.Totals.Amount, &page.Totals.Luckiest) }, totals.Text, totals.Args...)
		}
		if q.Days && q.Direction == redpacket.DirReceived {
			queueBestDay(b, q, totals.Args, &page.Totals)
		}
		b.Each(func(row Row) error {
			p, err := scanPacket(r, r.Keys())(row)
			listed = append(listed, p)
			return err
		}, query.Text, query.Args...)
	})
	if err != nil {
		return redpacket.PacketsPage{}, Outcome("list packets", err)
	}
	page.Packets, page.Next = onePage(q, listed)
	states := make([]*redpacket.State, len(page.Packets))
	for i := range page.Packets {
		states[i] = &page.Packets[i].State
	}
	err = t.db.Read(ctx, func(r Querier) error { return addDraws(r, q.User(), states...) })
	if q.Direction == redpacket.DirReceived {
		page.Packets = firstWins(page.Packets, listed)
	}
	return page, Outcome("list packets", err)
}

// queueBestDay makes the batch read the best day of a period. All of it stands in the index of the user's transfers.
func queueBestDay(b *Batch, q redpacket.PacketsQuery, period []any, t *redpacket.Totals) {
	const day = int64(24 * time.Hour / time.Millisecond)
	ahead := q.Ahead.Milliseconds()
	b.Each(func(row Row) error {
		var days int64
		t.Best = new(redpacket.BestDay)
		err := row.Scan(&days, &t.Best.Amount)
		t.Best.At = Millis(days*day - ahead)
		return err
	}, `select (at + $4) / $5 as day, cast(sum(amount) as bigint) from transfers
		where kind = 'claim' and user_id = $1 /*! and bucket = bucket_of($1) */ and at >= $2 and at < $3
		group by 1 order by 2 desc, 1 desc limit 1`, append(period[:3:3], ahead, day)...)
}

// firstWins drops rains that the list has because of later wins of the user, so that each rain is listed once. listed has the rows of the
// packets.
func firstWins(packets []redpacket.PacketState, listed []listedPacket) []redpacket.PacketState {
	var first []redpacket.PacketState
	for i, p := range packets {
		again := slices.ContainsFunc(first, func(f redpacket.PacketState) bool { return f.Packet.ID == p.Packet.ID })
		if p.State.Rain == nil || !again && p.State.Mine != nil && p.State.Mine.At.UnixMilli() == listed[i].at {
			first = append(first, p)
		}
	}
	return first
}

// Sample implements redpacket.Ledger.
func (t Tables) Sample(ctx context.Context, now time.Time) (sample redpacket.LedgerSample, err error) {
	var total, claimed, first int64
	err = t.db.Read(ctx, func(q Querier) error {
		_, err := q.Row(`with open as materialized (select id, total, expires_at from packets where status = 'open' order by expires_at, id limit $1),
				claimed as /*! materialized */ (select c.amount from /*one*/ open o cross join claims c where c.packet_id = o.id /*end*/
					/*! claims c where c.packet_id in (select id from open) */ limit $2)
			select count(*), cast(coalesce(sum(total), 0) as bigint), (select cast(coalesce(sum(amount), 0) as bigint) from claimed),
				count(*) filter (where expires_at < $3), coalesce(min(expires_at) filter (where expires_at < $3), $3),
				(select count(*) from (select 1 from quarantine limit $1) q)
			from open`,
			[]any{redpacket.SamplePackets, redpacket.SampleClaims, now.UnixMilli()},
			&sample.Open, &total, &claimed, &sample.Overdue, &first, &sample.Quarantined)
		return err
	})
	sample.Escrow, sample.Late = redpacket.Money(total-claimed), now.Sub(time.UnixMilli(first)).Truncate(time.Millisecond)
	return sample, Outcome("sample the books", err)
}
