package sqlitestore

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/chain"
)

// packetColumns are the columns of packets p that never change and are public.
const packetColumns = `p.id, p.partition, p.room_id, p.sender, p.sender_name, p.sender_avatar, p.mode, p.spread,
	p.total, p.count, p.greeting, p.recipients, p.passphrase, p.created_at, p.expires_at, p.commitment, p.key`

// packetInto returns the destinations to scan packetColumns into p.
func packetInto(p *redpacket.Packet) []any {
	return []any{
		&p.ID, &p.Partition, &p.Room, &p.From.ID, &p.From.Name, &p.From.Avatar, &p.Mode, &p.Spread,
		&p.Total, &p.Count, &p.Greeting, storedJSON{&p.To}, &p.Passphrase, storedTime{&p.CreatedAt}, storedTime{&p.ExpiresAt},
		&p.Commitment, &p.Key,
	}
}

// insertPacket stores a sealed packet as open.
func (w *writer) insertPacket(p redpacket.Packet, seed redpacket.Seed, shares []redpacket.Money, seq int64) error {
	cut, err := json.Marshal(shares)
	if err != nil {
		return err
	}
	recipients, err := json.Marshal(append([]string{}, p.To...)) // [] for none
	if err != nil {
		return err
	}
	seals := chain.NewSeals()
	link, err := w.chained(chain.PacketLeaf(p, seed, shares, seq, seals))
	if err != nil {
		return err
	}
	_, err = w.exec(`insert into packets (id, partition, room_id, sender, sender_name, sender_avatar, mode, spread,
		total, count, greeting, recipients, passphrase, created_at, expires_at, commitment, key, shares, seed, seq, status,
		link, name_seal, text_seal)
		values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'open', ?, ?, ?)`,
		p.ID, p.Partition, p.Room, p.From.ID, p.From.Name, p.From.Avatar, p.Mode, p.Spread,
		p.Total, p.Count, p.Greeting, string(recipients), p.Passphrase, p.CreatedAt.UnixMilli(), p.ExpiresAt.UnixMilli(),
		p.Commitment, p.Key, string(cut), seed[:], seq, link, seals.Name, seals.Text)
	return err
}

// Packet implements redpacket.Ledger.
func (s *Store) Packet(ctx context.Context, id string) (redpacket.Packet, error) {
	p, err := readPacket(reader{ctx, s.read}, id)
	return p, outcome("read packet", err)
}

func readPacket(q querier, id string) (p redpacket.Packet, err error) {
	found, err := q.row(`select `+packetColumns+` from packets p where p.id = ?`, []any{id}, packetInto(&p)...)
	if err == nil && !found {
		err = chat.ErrNotFound
	}
	return tidy(p), err
}

// tidy makes a packet that was read equal to the one that was sent: an empty list of recipients becomes nil.
func tidy(p redpacket.Packet) redpacket.Packet {
	if len(p.To) == 0 {
		p.To = nil
	}
	return p
}

// Image implements redpacket.Ledger.
func (s *Store) Image(ctx context.Context, id string) (i redpacket.Image, err error) {
	err = s.view(ctx, func(r reader) error {
		found, err := r.row(`select id, partition, count, expires_at, status from packets where id = ?`,
			[]any{id}, &i.ID, &i.Partition, &i.Count, storedTime{&i.Deadline}, &i.Status)
		if err != nil {
			return err
		}
		if !found {
			return chat.ErrNotFound
		}
		i.Grants, err = rows(r, scanGrant, `select user_id, share_no from claims where packet_id = ? order by share_no`, id)
		return err
	})
	return i, outcome("read image", err)
}

func scanGrant(rs *sql.Rows) (g redpacket.Grant, err error) {
	err = rs.Scan(&g.User, &g.Share)
	return g, err
}

// Overdue implements redpacket.Ledger.
func (s *Store) Overdue(ctx context.Context, before time.Time, after redpacket.Overdue, limit int) ([]redpacket.Overdue, error) {
	all, err := rows(reader{ctx, s.read}, scanOverdue, `select id, partition, expires_at from packets
		where status = 'open' and expires_at < ? and (expires_at, id) > (?, ?) order by expires_at, id limit ?`,
		before.UnixMilli(), after.ExpiresAt.UnixMilli(), after.ID, limit)
	return all, outcome("list overdue packets", err)
}

func scanOverdue(rs *sql.Rows) (o redpacket.Overdue, err error) {
	err = rs.Scan(&o.ID, &o.Partition, storedTime{&o.ExpiresAt})
	return o, err
}
