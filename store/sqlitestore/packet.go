package sqlitestore

import (
	"encoding/json"

	"hongbao/redpacket"
	"hongbao/store/chain"
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
