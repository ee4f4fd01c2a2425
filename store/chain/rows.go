package chain

import (
	"hongbao/chat"
	"hongbao/redpacket"
)

// EntryLeaf returns the leaf of an entry. hash is that of the request that made it, or nil.
func EntryLeaf(e chat.Entry, hash []byte, target int64, s Seals) Hash {
	return Entry{
		Room: e.Room, Seq: e.Seq, ID: e.ID, At: e.At.UnixMilli(), Sender: e.From.ID, Kind: string(e.Kind), Key: e.Key,
		Request: hash, Target: target,
		Name: Sealed(s.Name, e.From.Name, e.From.Avatar), Text: Sealed(s.Text, string(e.Body)),
	}.Leaf()
}

// PacketLeaf returns the leaf of a packet that was just sealed.
func PacketLeaf(p redpacket.Packet, seed redpacket.Seed, shares []redpacket.Money, seq int64, s Seals) Hash {
	cut := make([]int64, len(shares))
	for i, share := range shares {
		cut[i] = int64(share)
	}
	return Packet{
		ID: p.ID, Partition: int64(p.Partition), Room: p.Room, Sender: p.From.ID, Mode: string(p.Mode), Spread: string(p.Spread),
		Total: int64(p.Total), Count: int64(p.Count), Shares: cut, Recipients: p.To, Seed: seed[:], Commitment: p.Commitment,
		Key: p.Key, Seq: seq, CreatedAt: p.CreatedAt.UnixMilli(), ExpiresAt: p.ExpiresAt.UnixMilli(),
		Name: Sealed(s.Name, p.From.Name, p.From.Avatar), Text: Sealed(s.Text, p.Greeting, p.Passphrase),
	}.Leaf()
}

// ClaimLeaf returns the leaf of a claim that is about to be inserted.
func ClaimLeaf(c redpacket.Claim, amount redpacket.Money, transfer string) Hash {
	return Claim{
		Packet: c.ID, Share: int64(c.Share), User: c.User, Amount: int64(amount), At: c.At.UnixMilli(), Transfer: transfer,
	}.Leaf()
}
