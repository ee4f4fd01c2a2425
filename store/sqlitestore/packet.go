package sqlitestore

import (
	"context"
	"encoding/json"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/chain"
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
	link, err := w.chained(chain.PacketLeaf(p, columns, seals))
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
