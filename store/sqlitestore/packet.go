package sqlitestore

import (
	"context"
	"encoding/json"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/chain"
	"hongbao/store/secret"
	"hongbao/store/tables"
)

// insertPacket stores a sealed packet as open.
func (w *writer) insertPacket(p redpacket.Packet, seed redpacket.Seed, shares []redpacket.Money) error {
	columns, seals := w.keys.Packet(p, seed, shares), chain.NewSeals()
	cut, err := json.Marshal(columns.Shares)
	if err != nil {
		return err
	}
	recipients, err := json.Marshal(append([]string{}, p.To...)) // [] for none
	if err != nil {
		return err
	}
	link, err := w.Chained(chain.PacketLeaf(p, columns, seals))
	if err != nil {
		return err
	}
	_, err = w.Exec(`insert into packets (id, partition, room_id, sender, sender_name, sender_avatar, mode, spread,
		total, count, greeting, recipients, passphrase, created_at, expires_at, commitment, key, shares, seed, seq, status,
		link, name_seal, text_seal, encrypted_seed, earlier_members, skin)
		values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'open', ?, ?, ?, ?, ?, ?)`,
		p.ID, p.Partition, p.Room, p.From.ID, p.From.Name, p.From.Avatar, p.Mode, p.Spread,
		p.Total, p.Count, p.Greeting, string(recipients), columns.Passphrase, p.CreatedAt.UnixMilli(), p.ExpiresAt.UnixMilli(),
		p.Commitment, p.Key, string(cut), columns.Seed, p.Seq, link, seals.Name, seals.Text, columns.EncryptedSeed, p.EarlierMembers, p.Skin)
	return err
}

// Image implements redpacket.Ledger.
func (s *Store) Image(ctx context.Context, id string) (i redpacket.Image, err error) {
	err = s.view(ctx, func(r reader) error {
		found, err := r.Row(`select id, partition, count, expires_at, status from packets where id = ?`,
			[]any{id}, &i.ID, &i.Partition, &i.Count, tables.Time(&i.Deadline), &i.Status)
		if err != nil {
			return err
		}
		if !found {
			return chat.ErrNotFound
		}
		i.Grants, err = tables.List(r, scanGrant, `select user_id, share_no from claims where packet_id = ? order by share_no`, id)
		return err
	})
	return i, tables.Outcome("read image", err)
}

func scanGrant(rs tables.Row) (g redpacket.Grant, err error) {
	err = rs.Scan(&g.User, &g.Share)
	return g, err
}

// Packets implements redpacket.Ledger. A received packet counts at the time of its claim. Totals.Amount of sent packets
// is their total minus their refunds. Totals.Luckiest counts only received packets.
func (s *Store) Packets(ctx context.Context, q redpacket.PacketsQuery) (page redpacket.PacketsPage, err error) {
	totals, list, err := tables.PacketsPage(dialect{}, q)
	if err != nil {
		return redpacket.PacketsPage{}, err
	}
	err = s.view(ctx, func(r reader) error {
		if _, err := r.Row(totals.Text, totals.Args, &page.Totals.Count, &page.Totals.Amount, &page.Totals.Luckiest); err != nil {
			return err
		}
		listed, err := tables.List(r, tables.ScanPacket(r, s.keys), list.Text, list.Args...)
		page.Packets, page.Next = tables.OnePage(q, listed)
		return err
	})
	if err != nil {
		return redpacket.PacketsPage{}, tables.Outcome("list packets", err)
	}
	return page, nil
}

// Book implements redpacket.Ledger.
func (s *Store) Book(ctx context.Context, packet string) (b redpacket.Book, err error) {
	err = s.view(ctx, func(r reader) error {
		b, err = tables.ReadBook(r, packet)
		return err
	})
	if err != nil {
		return redpacket.Book{}, tables.Outcome("read book", err)
	}
	return b, nil
}

// Sample implements redpacket.Ledger.
func (s *Store) Sample(ctx context.Context, now time.Time) (sample redpacket.LedgerSample, err error) {
	var total, claimed, first int64
	_, err = s.reader(ctx).Row(`with open as materialized (select id, total, expires_at from packets where status = 'open' order by expires_at, id limit ?1),
			claimed as (select c.amount from open o cross join claims c on c.packet_id = o.id limit ?2)
		select count(*), coalesce(sum(total), 0), (select coalesce(sum(amount), 0) from claimed),
			count(*) filter (where expires_at < ?3), coalesce(min(expires_at) filter (where expires_at < ?3), ?3),
			(select count(*) from (select 1 from quarantine limit ?1))
		from open`,
		[]any{redpacket.SamplePackets, redpacket.SampleClaims, now.UnixMilli()},
		&sample.Open, &total, &claimed, &sample.Overdue, &first, &sample.Quarantined)
	sample.Escrow, sample.Late = redpacket.Money(total-claimed), now.Sub(time.UnixMilli(first)).Truncate(time.Millisecond)
	return sample, tables.Outcome("sample the books", err)
}

// Details implements redpacket.Ledger.
func (s *Store) Details(ctx context.Context, q redpacket.DetailsQuery) (d redpacket.DetailsPage, err error) {
	err = s.view(ctx, func(r reader) error {
		d, err = readDetails(r, s.keys, q)
		return err
	})
	if err != nil {
		return redpacket.DetailsPage{}, tables.Outcome("read details", err)
	}
	return d, nil
}

// readDetails runs several statements, so r must read from one snapshot. Seed and shares of an open packet are
// secret, so they are not read.
func readDetails(r reader, keys *secret.Keys, q redpacket.DetailsQuery) (d redpacket.DetailsPage, err error) {
	var (
		stored tables.StoredPacket
		state  tables.StoredState
	)
	found, err := r.Row(`select `+tables.PacketColumns+`, `+tables.StateColumns+` from packets p`+tables.StateJoins(dialect{})+`where p.id = $2`,
		[]any{q.User, q.Packet}, append(stored.Into(dialect{}), state.Into()...)...)
	if err != nil {
		return redpacket.DetailsPage{}, err
	}
	if !found {
		return redpacket.DetailsPage{}, chat.ErrNotFound
	}
	d.State = state.State()
	if d.Packet, err = stored.Packet(keys); err != nil {
		return redpacket.DetailsPage{}, err
	}
	if d.State.Status != redpacket.Open {
		if _, err := r.Row(`select seed, shares from packets where id = ?`, []any{q.Packet},
			storedSeed{&d.Seed}, storedJSON{&d.Shares}); err != nil {
			return redpacket.DetailsPage{}, err
		}
	}
	d.Claims, err = tables.List(r, tables.ScanPaid, `select `+tables.PaidColumns("c", "u")+` from claims c left join users u on u.id = c.user_id
		where c.packet_id = ? and c.share_no >= ? order by c.share_no limit ?`, q.Packet, q.AfterRank, q.Limit+1)
	if len(d.Claims) > q.Limit {
		d.Claims, d.More = d.Claims[:q.Limit], true
	}
	return d, err
}
