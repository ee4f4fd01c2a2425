package sqlitestore

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/chain"
	"hongbao/store/secret"
)

// packetColumns are the columns of packets p that make up a redpacket.Packet, and two that say how to read the passphrase.
const packetColumns = `p.id, p.partition, p.room_id, p.sender, p.sender_name, p.sender_avatar, p.mode, p.spread,
	p.total, p.count, p.greeting, p.recipients, p.passphrase, p.created_at, p.expires_at, p.commitment, p.key, p.seq, p.earlier_members, p.skin,
	p.status = 'open', p.encrypted_seed <> x''`

// storedPacket scans packetColumns.
type storedPacket struct {
	packet          redpacket.Packet
	open, encrypted bool
}

func (s *storedPacket) into() []any {
	p := &s.packet
	return []any{
		&p.ID, &p.Partition, &p.Room, &p.From.ID, &p.From.Name, &p.From.Avatar, &p.Mode, &p.Spread,
		&p.Total, &p.Count, &p.Greeting, storedJSON{&p.To}, &p.Passphrase, storedTime{&p.CreatedAt}, storedTime{&p.ExpiresAt},
		&p.Commitment, &p.Key, &p.Seq, &p.EarlierMembers, &p.Skin, &s.open, &s.encrypted,
	}
}

// value returns the packet as it was sent. An empty list of recipients becomes nil.
func (s *storedPacket) value(keys *secret.Keys) (p redpacket.Packet, err error) {
	p = s.packet
	if len(p.To) == 0 {
		p.To = nil
	}
	if s.encrypted {
		p.Passphrase, err = keys.Passphrase(p.ID, p.Passphrase, s.open)
	}
	return p, err
}

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
	link, err := w.chained(chain.PacketLeaf(p, columns, seals))
	if err != nil {
		return err
	}
	_, err = w.exec(`insert into packets (id, partition, room_id, sender, sender_name, sender_avatar, mode, spread,
		total, count, greeting, recipients, passphrase, created_at, expires_at, commitment, key, shares, seed, seq, status,
		link, name_seal, text_seal, encrypted_seed, earlier_members, skin)
		values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'open', ?, ?, ?, ?, ?, ?)`,
		p.ID, p.Partition, p.Room, p.From.ID, p.From.Name, p.From.Avatar, p.Mode, p.Spread,
		p.Total, p.Count, p.Greeting, string(recipients), columns.Passphrase, p.CreatedAt.UnixMilli(), p.ExpiresAt.UnixMilli(),
		p.Commitment, p.Key, string(cut), columns.Seed, p.Seq, link, seals.Name, seals.Text, columns.EncryptedSeed, p.EarlierMembers, p.Skin)
	return err
}

// Packet implements redpacket.Ledger.
func (s *Store) Packet(ctx context.Context, id string) (redpacket.Packet, error) {
	p, err := readPacket(reader{ctx, s.read}, s.keys, id)
	return p, outcome("read packet", err)
}

func readPacket(q querier, keys *secret.Keys, id string) (p redpacket.Packet, err error) {
	var stored storedPacket
	found, err := q.row(`select `+packetColumns+` from packets p where p.id = ?`, []any{id}, stored.into()...)
	switch {
	case err != nil:
		return redpacket.Packet{}, err
	case !found:
		return redpacket.Packet{}, chat.ErrNotFound
	}
	return stored.value(keys)
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
