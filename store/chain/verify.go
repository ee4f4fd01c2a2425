package chain

import (
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"hongbao/redpacket"
)

// StoredLink is a link as a database has it.
type StoredLink struct {
	Link // without Digest
	Hash []byte
}

// StoredRow is a chained row as a database has it.
type StoredRow struct {
	Link int64
	Leaf Hash
	ID   string // for reports
}

// Rows are the chained rows of one table, ordered by link.
type Rows struct {
	Kind string // of the rows, for reports
	All  iter.Seq2[StoredRow, error]
}

// Verifier checks that links and rows are as they were written. It reads them as streams, so its memory does not grow with
// the tables, only with the number of chains and the rows of one link.
type Verifier struct {
	// Report is called for each difference.
	Report func(kind, id, format string, args ...any)
	// Anchors are heads that were copied earlier. Each must still be a link with the same hash.
	Anchors []redpacket.Head
	// Since are heads up to which the chains were verified before. They must still be there. Older links of these chains, and their
	// rows, may be left out, and are not verified again.
	Since []redpacket.Head

	tables []*table
	since  map[int64]int64 // by chain: the link of Since
	heads  map[int64]head
}

// head is the newest link of a chain so far.
type head struct {
	id   int64
	hash Hash
}

// table is a stream of rows. row is the next one, and more is false if there is none.
type table struct {
	kind      string
	next      func() (StoredRow, error, bool)
	row       StoredRow
	more      bool
	unchained int // number of rows without a link
}

// Verify checks the links, ordered by id, against the rows of all tables. Differences go to Report. It returns an error only
// if links or rows cannot be read. It may be called only once.
func (v *Verifier) Verify(links iter.Seq2[StoredLink, error], tables ...Rows) error {
	v.heads, v.since = map[int64]head{}, map[int64]int64{}
	anchors := map[int64]Hash{}
	for _, h := range slices.Concat(v.Since, v.Anchors) {
		anchors[h.Link] = h.Hash
	}
	for _, h := range v.Since {
		number := Link{ID: h.Link}.Chain()
		v.since[number], v.heads[number] = h.Link, head{h.Link, h.Hash}
	}
	for _, rows := range tables {
		next, stop := iter.Pull2(rows.All)
		defer stop()
		t := &table{kind: rows.Kind, next: next}
		v.tables = append(v.tables, t)
		if err := t.advance(); err != nil {
			return err
		}
	}
	for l, err := range links {
		if err != nil {
			return err
		}
		if err := v.link(l); err != nil {
			return err
		}
		if hash, ok := anchors[l.ID]; ok {
			delete(anchors, l.ID)
			if string(l.Hash) != string(hash[:]) {
				v.Report("link", strconv.FormatInt(l.ID, 10), "its hash is not that of the head that was saved")
			}
		}
	}
	for id := range anchors {
		v.Report("link", strconv.FormatInt(id, 10), "it was saved as a head, and is missing")
	}
	return v.finish()
}

// Heads returns the newest link of each chain, sorted by chain. Call it after Verify.
func (v *Verifier) Heads() []redpacket.Head {
	heads := make([]redpacket.Head, 0, len(v.heads))
	for _, number := range slices.Sorted(maps.Keys(v.heads)) {
		heads = append(heads, redpacket.Head{Chain: number, Link: v.heads[number].id, Hash: v.heads[number].hash})
	}
	return heads
}

// verified reports whether the link is a head in Since, or older than that head of its chain.
func (v *Verifier) verified(link int64) bool {
	return 0 < link && link <= v.since[Link{ID: link}.Chain()]
}

// link checks one link, and the rows that name it.
func (v *Verifier) link(l StoredLink) error {
	if v.verified(l.ID) {
		return nil
	}
	var leaves []Hash
	var names []string
	for _, t := range v.tables {
		if err := v.skipTo(t, l.ID); err != nil {
			return err
		}
		for t.more && t.row.Link == l.ID {
			leaves = append(leaves, t.row.Leaf)
			if len(names) < 5 {
				names = append(names, t.kind+" "+t.row.ID)
			}
			if err := t.advance(); err != nil {
				return err
			}
		}
	}
	id, before := strconv.FormatInt(l.ID, 10), v.heads[l.Chain()]
	if l.Prev != before.id || l.Prev == 0 && l.Leaves != 0 {
		v.Report("link", id, "it follows link %d of its chain, and says that it follows %d", before.id, l.Prev)
	}
	next := l.Link
	next.Digest = Digest(leaves)
	if hash := next.Hash(before.hash); int64(len(leaves)) != l.Leaves {
		v.Report("link", id, "it was made of %d rows, and has %d: %s", l.Leaves, len(leaves), strings.Join(names, ", "))
	} else if string(l.Hash) != string(hash[:]) {
		v.Report("link", id, "its rows, or the links before it, are not as they were written: %s", strings.Join(names, ", "))
	}
	before.id = l.ID
	copy(before.hash[:], l.Hash) // as stored, so that a wrong link is reported once
	v.heads[l.Chain()] = before
	return nil
}

// skipTo advances the table to the rows of the link. Of the rows before them, it counts those without a link. It reports those
// whose link is missing, unless that link is verified already.
func (v *Verifier) skipTo(t *table, link int64) error {
	for t.more && t.row.Link < link {
		if err := v.skip(t); err != nil {
			return err
		}
	}
	return nil
}

func (v *Verifier) skip(t *table) error {
	switch {
	case t.row.Link == 0:
		t.unchained++
	case !v.verified(t.row.Link):
		v.Report(t.kind, t.row.ID, "its link %d is missing", t.row.Link)
	}
	return t.advance()
}

// finish reports the remaining rows whose link is missing, and for each table how many rows have no link at all.
func (v *Verifier) finish() error {
	for _, t := range v.tables {
		for t.more {
			if err := v.skip(t); err != nil {
				return err
			}
		}
		if t.unchained > 0 {
			v.Report(t.kind, "", "%d rows are in no hash chain", t.unchained)
		}
	}
	return nil
}

func (t *table) advance() (err error) {
	t.row, err, t.more = t.next()
	return err
}
