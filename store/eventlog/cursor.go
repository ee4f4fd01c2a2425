package eventlog

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
)

// Cursor is a position in the stream: for each chain the id of the last row that was read. A chain that is not named is read from
// its oldest kept row on. The zero Cursor is before all events of any epoch. A Cursor is also a position in the ledger: see
// ReadLedger.
type Cursor struct {
	Epoch string // of the database, see package lineage
	// Read has, by chain, the id of the last row that was read whole.
	Read map[int64]int64
	// Chain and ID name a row that was read in part. N is the index of its first event that was not read. It is 0 if there is no such
	// row.
	Chain, ID int64
	N         int
}

// errCursor means that a text is no cursor.
var errCursor = errors.New("is no cursor of the event stream")

const cursorVersion = 1

// String returns the cursor as opaque text.
func (c Cursor) String() string {
	b := []byte{cursorVersion}
	b = binary.AppendUvarint(b, uint64(len(c.Epoch)))
	b = append(b, c.Epoch...)
	for _, n := range []int64{c.Chain, c.ID, int64(c.N)} {
		b = binary.AppendVarint(b, n)
	}
	newest := c.seen()
	b = binary.AppendVarint(b, newest)
	for _, chain := range slices.Sorted(maps.Keys(c.Read)) {
		b = binary.AppendVarint(b, chain)
		b = binary.AppendVarint(b, newest-c.Read[chain]) // short, because busy chains are near the newest row
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// ParseCursor returns the cursor of a text that String has returned. Clients can send any text. A text that has not
// the form of a cursor is an error.
func ParseCursor(text string) (c Cursor, err error) {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) == 0 || b[0] != cursorVersion {
		return Cursor{}, errCursor
	}
	b = b[1:]
	size, n := binary.Uvarint(b)
	if n <= 0 || size > maxEpoch || uint64(len(b)-n) < size {
		return Cursor{}, errCursor
	}
	c.Epoch, b = string(b[n:n+int(size)]), b[n+int(size):]
	var part, newest int64
	for _, into := range []*int64{&c.Chain, &c.ID, &part, &newest} {
		if *into, n = binary.Varint(b); n <= 0 || *into < 0 {
			return Cursor{}, errCursor
		}
		b = b[n:]
	}
	if part > maxPart || c.Chain > maxChain {
		return Cursor{}, errCursor
	}
	c.N, c.Read = int(part), map[int64]int64{}
	for len(b) > 0 {
		chain, n := binary.Varint(b)
		if n <= 0 {
			return Cursor{}, errCursor
		}
		behind, more := binary.Varint(b[n:])
		if more <= 0 || chain < 0 || chain > maxChain || behind < 0 || behind > newest {
			return Cursor{}, errCursor
		}
		if _, twice := c.Read[chain]; twice {
			return Cursor{}, errCursor
		}
		c.Read[chain] = newest - behind
		b = b[n+more:]
	}
	if c.Epoch == "" && (c.ID > 0 || len(c.Read) > 0) { // without an epoch nothing was read
		return Cursor{}, errCursor
	}
	return c, nil
}

const (
	maxEpoch = 64
	maxPart  = 1 << 30
	maxChain = 1 << 20 // see the check of the table chains
)

// seen returns the id of the newest row that was read whole.
func (c Cursor) seen() (newest int64) {
	for _, id := range c.Read {
		newest = max(newest, id)
	}
	return newest
}

// Behind reports whether there are rows that the cursor has not read, or the epoch has changed. newest is the cursor of
// Store.NewestEvent.
func (c Cursor) Behind(newest Cursor) bool {
	if c.Epoch != newest.Epoch || c.N > 0 {
		return true
	}
	for chain, id := range newest.Read {
		if id > c.Read[chain] {
			return true
		}
	}
	return false
}

// Check returns an error unless the stream can be read on from the cursor. epoch is that of the database, and floor is the id up to
// which rows count as deleted.
func (c Cursor) Check(epoch string, floor int64) error {
	switch {
	case c.Epoch == "": // from the oldest event on
		return nil
	case c.Epoch != epoch:
		return ErrEpoch
	case c.seen() >= floor:
		return nil
	}
	return ErrExpired
}

// prune forgets each chain of which the last row that was read is deleted: the reader begins that chain at the floor.
func (c Cursor) prune(floor int64) {
	kept := false
	for _, id := range c.Read {
		kept = kept || id > floor
	}
	maps.DeleteFunc(c.Read, func(_, id int64) bool { return id <= floor })
	if !kept && floor > 0 {
		c.Read[0] = floor // no transaction of Postgres uses chain 0: the cursor still says how far it has come
	}
}

// Begin returns a cursor from which all rows are read that are kept. floor is the id up to which rows count as deleted.
func Begin(epoch string, floor int64) Cursor {
	c := Cursor{Epoch: epoch, Read: map[int64]int64{}}
	c.prune(floor)
	return c
}

// Refused reports whether the error says that a stream cannot be read on from a cursor.
func Refused(err error) bool { return errors.Is(err, ErrExpired) || errors.Is(err, ErrEpoch) }
