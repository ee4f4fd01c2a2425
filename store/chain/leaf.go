package chain

import (
	"crypto/sha256"
	"encoding/binary"
)

// Hash is a SHA-256.
type Hash = [sha256.Size]byte

// Entry holds the fields of a row of entries that never change, except content_no: that is counted from the entries.
type Entry struct {
	Room    string
	Seq     int64
	ID      string
	At      int64 // Unix milliseconds, as all times
	Sender  string
	Kind    string
	Key     string
	Request []byte // hash of the request that made the entry; empty without a key
	Target  int64
	Name    Hash // Sealed: the sender's name and avatar
	Text    Hash // Sealed: the body
}

// Leaf returns the hash of the row.
func (e Entry) Leaf() Hash {
	b := encoding("hongbao/entry/1")
	b.texts(e.Room)
	b.numbers(e.Seq)
	b.texts(e.ID)
	b.numbers(e.At)
	b.texts(e.Sender, e.Kind, e.Key, string(e.Request))
	b.numbers(e.Target)
	b.hashes(e.Name, e.Text)
	return b.sum()
}

// Packet holds the fields of a row of packets that are fixed when the packet is sent.
type Packet struct {
	ID                   string
	Partition            int64
	Room, Sender         string
	Mode, Spread         string
	Total, Count         int64
	Shares               []int64
	Recipients           []string
	Seed                 []byte
	Commitment, Key      string
	Seq                  int64
	CreatedAt, ExpiresAt int64
	Name                 Hash // Sealed: the sender's name and avatar
	Text                 Hash // Sealed: greeting and passphrase
}

// Leaf returns the hash of the row.
func (p Packet) Leaf() Hash {
	b := encoding("hongbao/packet/1")
	b.texts(p.ID)
	b.numbers(p.Partition)
	b.texts(p.Room, p.Sender, p.Mode, p.Spread)
	b.numbers(p.Total, p.Count, int64(len(p.Shares)))
	b.numbers(p.Shares...)
	b.numbers(int64(len(p.Recipients)))
	b.texts(p.Recipients...)
	b.texts(string(p.Seed), p.Commitment, p.Key)
	b.numbers(p.Seq, p.CreatedAt, p.ExpiresAt)
	b.hashes(p.Name, p.Text)
	return b.sum()
}

// Claim holds the fields of a row of claims that never change.
type Claim struct {
	Packet   string
	Share    int64
	User     string
	Amount   int64
	At       int64
	Transfer string
}

// Leaf returns the hash of the row.
func (c Claim) Leaf() Hash {
	b := encoding("hongbao/claim/1")
	b.texts(c.Packet)
	b.numbers(c.Share)
	b.texts(c.User)
	b.numbers(c.Amount, c.At)
	b.texts(c.Transfer)
	return b.sum()
}

// Transfer holds the fields of a credit from outside or of a debit to outside. All other transfers are derived from
// packets and claims.
type Transfer struct {
	ID            string
	At            int64
	Debit, Credit string
	Amount        int64
	Kind, User    string
	Key           string
	Request       []byte // hash of the request
	Note          string
	Actor         string // who made it
	RequestID     string
	Reason        string
}

// Leaf returns the hash of the row.
func (t Transfer) Leaf() Hash {
	b := encoding("hongbao/transfer/1")
	b.texts(t.ID)
	b.numbers(t.At)
	b.texts(t.Debit, t.Credit)
	b.numbers(t.Amount)
	b.texts(t.Kind, t.User, t.Key, string(t.Request), t.Note, t.Actor, t.RequestID, t.Reason)
	return b.sum()
}

// encoder appends values in the encoding of this package.
type encoder []byte

// encoding begins the encoding of a kind.
func encoding(kind string) encoder {
	b := make(encoder, 0, 256)
	b.texts(kind)
	return b
}

func (b *encoder) numbers(ns ...int64) {
	for _, n := range ns {
		*b = binary.BigEndian.AppendUint64(*b, uint64(n))
	}
}

func (b *encoder) texts(texts ...string) {
	for _, s := range texts {
		b.numbers(int64(len(s)))
		*b = append(*b, s...)
	}
}

func (b *encoder) hashes(hashes ...Hash) {
	for _, h := range hashes {
		*b = append(*b, h[:]...)
	}
}

func (b encoder) sum() Hash { return sha256.Sum256(b) }
