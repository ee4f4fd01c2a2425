package chain

import (
	"encoding/json"
	"fmt"
)

// Stored is a chained row as a database has it. No value in it is trusted.
type Stored interface {
	// Into returns the destinations to scan the columns that the comment of the type lists.
	Into() []any
	// Row returns the scanned row with its leaf.
	Row() StoredRow
}

// Seals are the two seal columns of a row.
type Seals struct{ Name, Text []byte }

// NewSeals returns the seals of a row that is about to be inserted.
func NewSeals() Seals { return Seals{Name: newSalt(), Text: newSalt()} }

// StoredEntry holds these columns: link, room_id, seq, id, at, sender, kind, key, hash of the request, target,
// name_seal, sender_name, sender_avatar, text_seal, body.
type StoredEntry struct {
	Entry
	Seals
	link               int64
	name, avatar, body string
}

// Into implements Stored.
func (e *StoredEntry) Into() []any {
	return []any{
		&e.link, &e.Room, &e.Seq, &e.ID, &e.At, &e.Sender, &e.Kind, &e.Key, &e.Request, &e.Target,
		&e.Seals.Name, &e.name, &e.avatar, &e.Seals.Text, &e.body,
	}
}

// Row implements Stored.
func (e *StoredEntry) Row() StoredRow {
	e.Entry.Name, e.Entry.Text = Sealed(e.Seals.Name, e.name, e.avatar), Sealed(e.Seals.Text, e.body)
	return StoredRow{Link: e.link, Leaf: e.Leaf(), ID: fmt.Sprintf("%s/%d", e.Room, e.Seq)}
}

// StoredPacket holds these columns: link, id, partition, room_id, sender, mode, spread, total, count, shares and
// recipients (both as JSON), seed, commitment, key, seq, created_at, expires_at, name_seal, sender_name, sender_avatar,
// text_seal, greeting, passphrase, encrypted_seed, held, held_until.
type StoredPacket struct {
	Packet
	Seals
	link                               int64
	shares, recipients                 string
	name, avatar, greeting, passphrase string
}

// Into implements Stored.
func (p *StoredPacket) Into() []any {
	return []any{
		&p.link, &p.ID, &p.Partition, &p.Room, &p.Sender, &p.Mode, &p.Spread, &p.Total, &p.Count, &p.shares,
		&p.recipients, &p.Seed, &p.Commitment, &p.Key, &p.Seq, &p.CreatedAt, &p.ExpiresAt,
		&p.Seals.Name, &p.name, &p.avatar, &p.Seals.Text, &p.greeting, &p.passphrase, &p.EncryptedSeed, &p.Held, &p.HeldUntil,
	}
}

// Row implements Stored. Shares or recipients that are not a JSON list of the right type, because they were forged, count as an empty
// list.
func (p *StoredPacket) Row() StoredRow {
	if json.Unmarshal([]byte(p.shares), &p.Shares) != nil {
		p.Shares = nil
	}
	if json.Unmarshal([]byte(p.recipients), &p.Recipients) != nil {
		p.Recipients = nil
	}
	p.Packet.Name, p.Packet.Text = Sealed(p.Seals.Name, p.name, p.avatar), Sealed(p.Seals.Text, p.greeting, p.passphrase)
	return StoredRow{Link: p.link, Leaf: p.Leaf(), ID: p.ID}
}

// StoredClaim holds these columns: link, packet_id, share_no, user_id, amount, at, transfer.
type StoredClaim struct {
	Claim
	link int64
}

// Into implements Stored.
func (c *StoredClaim) Into() []any {
	return []any{&c.link, &c.Packet, &c.Share, &c.User, &c.Amount, &c.At, &c.Transfer}
}

// Row implements Stored.
func (c *StoredClaim) Row() StoredRow {
	return StoredRow{Link: c.link, Leaf: c.Leaf(), ID: fmt.Sprintf("%s/%d", c.Packet, c.Share)}
}

// StoredParticipant holds these columns: link, packet_id, leaf, at.
type StoredParticipant struct {
	Participant
	link int64
}

// Into implements Stored.
func (p *StoredParticipant) Into() []any {
	return []any{&p.link, &p.Packet, &p.DrawLeaf, &p.At}
}

// Row implements Stored.
func (p *StoredParticipant) Row() StoredRow {
	return StoredRow{Link: p.link, Leaf: p.Leaf(), ID: p.Packet + "/" + p.DrawLeaf}
}

// StoredDraw holds these columns of packets: draw_link, id, drawn_at, participants, parts, root.
type StoredDraw struct {
	Draw
	link int64
}

// Into implements Stored.
func (d *StoredDraw) Into() []any {
	return []any{&d.link, &d.Packet, &d.At, &d.Participants, &d.Parts, &d.Root}
}

// Row implements Stored.
func (d *StoredDraw) Row() StoredRow {
	return StoredRow{Link: d.link, Leaf: d.Leaf(), ID: d.Packet}
}

// StoredWave holds these columns of waves: link, packet_id, wave, drawn_at, participants, first_share, root, winners as JSON.
type StoredWave struct {
	Wave
	link    int64
	winners string
}

// Into implements Stored.
func (w *StoredWave) Into() []any {
	return []any{&w.link, &w.Packet, &w.Wave.Wave, &w.At, &w.Participants, &w.First, &w.Root, &w.winners}
}

// Row implements Stored.
func (w *StoredWave) Row() StoredRow {
	row := StoredRow{Link: w.link, ID: fmt.Sprintf("%s/%d", w.Packet, w.Wave.Wave)}
	if json.Unmarshal([]byte(w.winners), &w.Winners) == nil { // else the zero leaf, which is in no link
		row.Leaf = w.Leaf()
	}
	return row
}

// StoredTransfer holds these columns: link, id, at, debit, credit, amount, kind, user_id, key, hash, note, actor,
// request_id, reason.
type StoredTransfer struct {
	Transfer
	link int64
}

// Into implements Stored.
func (t *StoredTransfer) Into() []any {
	return []any{
		&t.link, &t.ID, &t.At, &t.Debit, &t.Credit, &t.Amount, &t.Kind, &t.User, &t.Key, &t.Request, &t.Note,
		&t.Actor, &t.RequestID, &t.Reason,
	}
}

// Row implements Stored.
func (t *StoredTransfer) Row() StoredRow {
	return StoredRow{Link: t.link, Leaf: t.Leaf(), ID: t.ID}
}
