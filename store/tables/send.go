package tables

import (
	"time"

	"hongbao/redpacket"
	"hongbao/store/chain"
)

// InsertPacket stores a sealed packet as open, and what its idempotency key was used for.
func InsertPacket(w Tx, p redpacket.Packet, hash []byte, seed redpacket.Seed, shares []redpacket.Money) error {
	columns, seals := w.Keys().Packet(p, seed, shares), chain.NewSeals()
	link, err := w.Chained(chain.PacketLeaf(p, columns, seals))
	if err != nil {
		return err
	}
	_, err = w.Exec(`insert into packets (/*! bucket, */ id, partition, room_id, sender, sender_name, sender_avatar, mode, spread,
		total, count, greeting, recipients, passphrase, created_at, expires_at, commitment, key, shares, seed, seq, status,
		link, name_seal, text_seal, encrypted_seed, earlier_members, skin, window_s, rest, opens_at, held, held_until, waves, max_wins, one_per_person)
		values (/*! bucket_of($1), */ $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, 'open', $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34)`,
		p.ID, p.Partition, p.Room, p.From.ID, p.From.Name, p.From.Avatar, p.Mode, p.Spread,
		p.Total, p.Count, p.Greeting, w.ArrayOf(append([]string{}, p.To...)), columns.Passphrase, p.CreatedAt.UnixMilli(), p.ExpiresAt.UnixMilli(),
		p.Commitment, p.Key, w.ArrayOf(columns.Shares), columns.Seed, p.Seq, link, seals.Name, seals.Text, columns.EncryptedSeed, p.EarlierMembers, p.Skin, int(p.Window/time.Second), p.Rest,
		millisOr(p.OpensAt, 0), p.Hold.Text(), millisOr(p.Hold.Until, 0), p.Rain.Waves, p.Rain.MaxWins, p.OnePerPerson)
	if err != nil {
		return err
	}
	return PutRequest(w, p.From.ID, p.Key, hash, Request{Room: p.Room, Seq: p.Seq, Ref: p.ID})
}

// SentBefore answers a repeated request with the stored packet and entry, and with the present account of the sender, which account reads.
func SentBefore(q Querier, req Request, account func(user string) (redpacket.Account, error)) (sent redpacket.Sent, err error) {
	sent.Dup = true
	if sent.Packet, err = ReadPacket(q, req.Ref); err != nil {
		return redpacket.Sent{}, err
	}
	if sent.Entry, err = ReadEntry(q, req.Room, req.Seq); err != nil {
		return redpacket.Sent{}, err
	}
	sent.Account, err = account(sent.Packet.From.ID)
	return sent, err
}
