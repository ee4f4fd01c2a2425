package chain

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/secret"
)

// Hash is a SHA-256.
type Hash = [sha256.Size]byte

// Entry holds the fields of a row of entries that never change, with hashes in place of the name and the text, which may be erased.
// It leaves out content_no, which an audit counts again from the entries.
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
	return encoding("hongbao/entry/1").
		texts(e.Room).
		numbers(e.Seq).
		texts(e.ID).
		numbers(e.At).
		texts(e.Sender, e.Kind, e.Key, string(e.Request)).
		numbers(e.Target).
		hashes(e.Name, e.Text).
		sum()
}

// Packet holds the fields of a row of packets that are fixed when the packet is sent. It leaves out earlier_members and skin, which an
// audit compares with the packet's entry.
type Packet struct {
	ID                   string
	Partition            int64
	Room, Sender         string
	Mode, Spread         string
	Total, Count         int64
	Shares               []int64
	Recipients           []string
	Seed                 []byte
	EncryptedSeed        []byte // if not empty, the leaf has it in place of Shares and Seed; Commitment fixes both
	Commitment, Key      string
	Seq                  int64
	CreatedAt, ExpiresAt int64
	Name                 Hash // Sealed: the sender's name and avatar
	Text                 Hash // Sealed: greeting and passphrase, the latter as it is stored

	Held      string // for whom shares are held, as it is stored; if it is empty, the leaf has neither of these two
	HeldUntil int64
}

// Leaf returns the hash of the row. The kind of the encoding is packet/1 if the seed is stored in clear, else packet/2.
func (p Packet) Leaf() Hash {
	kind, shares, seed := "hongbao/packet/1", p.Shares, p.Seed
	if len(p.EncryptedSeed) > 0 {
		kind, shares, seed = "hongbao/packet/2", nil, p.EncryptedSeed
	}
	e := encoding(kind).
		texts(p.ID).
		numbers(p.Partition).
		texts(p.Room, p.Sender, p.Mode, p.Spread).
		numbers(p.Total, p.Count, int64(len(shares))).
		numbers(shares...).
		numbers(int64(len(p.Recipients))).
		texts(p.Recipients...).
		texts(string(seed), p.Commitment, p.Key).
		numbers(p.Seq, p.CreatedAt, p.ExpiresAt).
		hashes(p.Name, p.Text)
	if p.Held != "" {
		e = e.texts(p.Held).numbers(p.HeldUntil)
	}
	return e.sum()
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
	return encoding("hongbao/claim/1").
		texts(c.Packet).
		numbers(c.Share).
		texts(c.User).
		numbers(c.Amount, c.At).
		texts(c.Transfer).
		sum()
}

// Participant holds the fields of a row of participants that never change. Its leaf in the draw stands for the user.
type Participant struct {
	Packet   string
	DrawLeaf string // hex
	At       int64
}

// Leaf returns the hash of the row.
func (p Participant) Leaf() Hash {
	return encoding("hongbao/participant/1").
		texts(p.Packet, p.DrawLeaf).
		numbers(p.At).
		sum()
}

// Draw holds the columns of packets that say how the entering of a draw has ended.
type Draw struct {
	Packet                  string
	At, Participants, Parts int64
	Root                    string // hex
}

// Leaf returns the hash of these columns.
func (d Draw) Leaf() Hash {
	return encoding("hongbao/draw/1").
		texts(d.Packet).
		numbers(d.At, d.Participants, d.Parts).
		texts(d.Root).
		sum()
}

// Wave holds the fields of a row of waves. No row changes.
type Wave struct {
	Packet                        string
	Wave, At, Participants, First int64
	Root                          string // hex
	Winners                       []string
}

// Leaf returns the hash of the row.
func (w Wave) Leaf() Hash {
	return encoding("hongbao/wave/1").
		texts(w.Packet).
		numbers(w.Wave, w.At, w.Participants, w.First).
		texts(w.Root).
		texts(w.Winners...).
		sum()
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
	Actor         string // the administrator or program that ordered it
	RequestID     string
	Reason        string
}

// Leaf returns the hash of the row.
func (t Transfer) Leaf() Hash {
	return encoding("hongbao/transfer/1").
		texts(t.ID).
		numbers(t.At).
		texts(t.Debit, t.Credit).
		numbers(t.Amount).
		texts(t.Kind, t.User, t.Key, string(t.Request), t.Note, t.Actor, t.RequestID, t.Reason).
		sum()
}

// encoder is an encoding of this package. Its methods numbers, texts and hashes append, and return the longer encoding.
type encoder []byte

// encoding begins the encoding of a kind.
func encoding(kind string) encoder { return make(encoder, 0, 256).texts(kind) }

func (b encoder) numbers(ns ...int64) encoder {
	for _, n := range ns {
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	return b
}

func (b encoder) texts(texts ...string) encoder {
	for _, s := range texts {
		b = append(b.numbers(int64(len(s))), s...)
	}
	return b
}

func (b encoder) hashes(hashes ...Hash) encoder {
	for _, h := range hashes {
		b = append(b, h[:]...)
	}
	return b
}

func (b encoder) sum() Hash { return sha256.Sum256(b) }

// EntryLeaf returns the leaf of an entry. hash is the hash of the request that made the entry, or nil.
func EntryLeaf(e chat.Entry, hash []byte, target int64, s Seals) Hash {
	return Entry{
		Room: e.Room, Seq: e.Seq, ID: e.ID, At: e.At.UnixMilli(), Sender: e.From.ID, Kind: string(e.Kind), Key: e.Key,
		Request: hash, Target: target,
		Name: Sealed(s.Name, e.From.Name, e.From.Avatar), Text: Sealed(s.Text, string(e.Body)),
	}.Leaf()
}

// PacketLeaf returns the leaf of a packet that is about to be inserted with these secret columns.
func PacketLeaf(p redpacket.Packet, c secret.Columns, s Seals) Hash {
	cut := make([]int64, len(c.Shares))
	for i, share := range c.Shares {
		cut[i] = int64(share)
	}
	return Packet{
		ID: p.ID, Partition: int64(p.Partition), Room: p.Room, Sender: p.From.ID, Mode: string(p.Mode), Spread: string(p.Spread),
		Total: int64(p.Total), Count: int64(p.Count), Shares: cut, Recipients: p.To, Seed: c.Seed, EncryptedSeed: c.EncryptedSeed,
		Commitment: p.Commitment, Key: p.Key, Seq: p.Seq, CreatedAt: p.CreatedAt.UnixMilli(), ExpiresAt: p.ExpiresAt.UnixMilli(),
		Name: Sealed(s.Name, p.From.Name, p.From.Avatar), Text: Sealed(s.Text, p.Greeting, c.Passphrase),
		Held: p.Hold.Text(), HeldUntil: p.Hold.Until.UnixMilli(),
	}.Leaf()
}

// ClaimLeaf returns the leaf of a claim that is about to be inserted.
func ClaimLeaf(c redpacket.Claim, amount redpacket.Money, transfer string) Hash {
	return Claim{
		Packet: c.ID, Share: int64(c.Share), User: c.User, Amount: int64(amount), At: c.At.UnixMilli(), Transfer: transfer,
	}.Leaf()
}

// ParticipantLeaf returns the leaf of a participant that is about to be inserted.
func ParticipantLeaf(packet string, p redpacket.Participant) Hash {
	return Participant{Packet: packet, DrawLeaf: hex.EncodeToString(p.Leaf[:]), At: p.At.UnixMilli()}.Leaf()
}

// DrawLeaf returns the leaf of a draw whose entering is about to end.
func DrawLeaf(packet string, d redpacket.Drawn) Hash {
	return Draw{
		Packet: packet, At: d.At.UnixMilli(), Participants: int64(d.Participants), Parts: int64(d.Parts), Root: d.Root,
	}.Leaf()
}

// WaveLeaf returns the leaf of a wave that has just been drawn.
func WaveLeaf(packet string, w redpacket.Wave) Hash {
	return Wave{
		Packet: packet, Wave: int64(w.Number), At: w.At.UnixMilli(), Participants: int64(w.Participants), First: int64(w.First), Root: w.Root, Winners: w.Winners,
	}.Leaf()
}

// SaltSize is the length of a seal whose text is still there: 16 random bytes. The seal of an erased text is the Hash that
// stands for the text.
const SaltSize = 16

// newSalt returns the seal of a new text.
func newSalt() []byte {
	salt := make([]byte, SaltSize)
	_, _ = rand.Read(salt) // never fails
	return salt
}

// Sealed returns the hash that stands for the texts in a leaf. seal is the column of the row: a salt, or the hash itself
// if the texts were erased.
func Sealed(seal []byte, texts ...string) Hash {
	if Erased(seal) {
		return Hash(seal)
	}
	return encoding(sealKind).texts(string(seal)).texts(texts...).sum()
}

// Erased reports whether the seal is that of an erased text.
func Erased(seal []byte) bool { return len(seal) == len(Hash{}) }

const sealKind = "hongbao/seal/1"

// chainBits is how many of the lower bits of a link's id are the number of its chain. The upper bits are the time of the link
// in Unix milliseconds. If the chain already has a link with this time or a later one, they are a later time. So ids always
// rise within a chain. Ids of different chains rise with time only as far as the clocks of the instances agree.
const chainBits = 20

// MaxChain is the highest number of a chain.
const MaxChain = 1<<chainBits - 1

// LinkID returns the id of the next link of a chain, after the link with the id last.
func LinkID(chain, last, nowMillis int64) int64 {
	return max(nowMillis<<chainBits|chain, last+1<<chainBits)
}

// Link is one link of a chain: the rows that one transaction has added. A link may have no rows, for example the first of a chain.
type Link struct {
	ID     int64
	Prev   int64 // id of the link before; 0 in the first of a chain
	At     int64
	Leaves int64 // number of rows
	Digest Hash  // of the leaves
}

// Chain returns the number of the link's chain.
func (l Link) Chain() int64 { return l.ID & MaxChain }

// Digest returns the hash of a link's leaves. They are sorted, so their order does not matter.
func Digest(leaves []Hash) Hash {
	sorted := slices.Clone(leaves)
	slices.SortFunc(sorted, func(a, b Hash) int { return bytes.Compare(a[:], b[:]) })
	h := sha256.New()
	for _, leaf := range sorted {
		h.Write(leaf[:])
	}
	return Hash(h.Sum(nil))
}

// Hash returns the hash of the link. prev is the hash of the link before, or zeros in the first link of a chain.
func (l Link) Hash(prev Hash) Hash {
	return append(encoder(Prefix()).hashes(prev), l.Suffix()...).sum()
}

// Prefix and Suffix are the parts of a link's encoding before and after the hash of the link before it. With them pgstore lets
// Postgres compute the hash of a link from the stored hash of the link before.
func Prefix() []byte { return encoding("hongbao/link/1") }

// Suffix is described at Prefix.
func (l Link) Suffix() []byte {
	return encoder{}.numbers(l.ID, l.Prev, l.At, l.Leaves).hashes(l.Digest)
}
