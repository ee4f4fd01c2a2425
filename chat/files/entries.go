package files

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"hongbao/chat"
)

// Place is where an entry stands.
type Place struct {
	Room string
	Seq  int64
}

// Named is an entry with the files that its body names.
type Named struct {
	Place

	Sender string // "": there is no such entry
	Files  []chat.File
}

// namedEntries is how many entries one step looks at, and namedAtOnce of how many it reads the bodies at a time.
const (
	namedEntries = 10_000
	namedAtOnce  = 100
)

// compareEntries compares the entries that name files with the rows of files. Rows are given to an entry and taken from it in the transaction that writes
// the entry, so each of them must name the other. It reads a bounded part at a time.
func (e *examination) compareEntries() error {
	for next := (Place{}); ; {
		found, following, err := e.rows.NamingEntries(e.ctx, next, namedEntries)
		if err != nil {
			return err
		}
		for places := range slices.Chunk(found, namedAtOnce) {
			if err := e.comparePlaces(places); err != nil {
				return err
			}
		}
		if next = following; next == (Place{}) {
			return nil
		}
	}
}

func (e *examination) comparePlaces(places []Place) error {
	entries, err := e.rows.FilesOfEntries(e.ctx, places)
	if err != nil {
		return err
	}
	var ids []string
	for _, n := range entries {
		for _, f := range n.Files {
			ids = append(ids, f.ID)
		}
	}
	rows, err := e.rows.FilesByID(e.ctx, ids)
	if err != nil {
		return err
	}
	for _, n := range entries {
		if e.Entries++; len(n.wrong(rows)) == 0 {
			continue
		}
		if err := e.confirm(n.Place); err != nil {
			return err
		}
	}
	return nil
}

// confirm reads an entry and its files again, and reports what is still wrong: the entry may have been recalled between the two reads.
func (e *examination) confirm(p Place) error {
	again, err := e.rows.FilesOfEntries(e.ctx, []Place{p})
	if err != nil || len(again) == 0 {
		return err
	}
	var ids []string
	for _, f := range again[0].Files {
		ids = append(ids, f.ID)
	}
	rows, err := e.rows.FilesByID(e.ctx, ids)
	if err != nil {
		return err
	}
	for _, d := range again[0].wrong(rows) {
		e.report(d[0], fmt.Sprintf("is named by the entry %d of the room %s, and %s", p.Seq, p.Room, d[1]))
	}
	return nil
}

// wrong returns the ids of files that do not fit the entry, each with what is wrong.
func (n Named) wrong(rows map[string]Stored) (all [][2]string) {
	for _, f := range n.Files {
		row, found := rows[f.ID]
		var what string
		switch {
		case !found:
			what = "has no row"
		case row.Room != n.Room:
			what = "is in the room " + row.Room
		case row.Seq != n.Seq:
			what = fmt.Sprintf("belongs to the entry %d", row.Seq)
		case row.User != n.Sender:
			what = "is of the user " + row.User
		case row.State == Coming || row.State == Held:
			what = "is " + string(row.State)
		case row.File != f:
			what = "is another file there"
		default:
			continue
		}
		all = append(all, [2]string{f.ID, what})
	}
	return all
}

// compareRows reports files that say that they belong to an entry which does not name them.
func (e *examination) compareRows(page []Stored) error {
	for sent := range slices.Chunk(slices.DeleteFunc(slices.Clone(page), func(f Stored) bool { return f.Seq == 0 }), namedAtOnce) {
		places := make([]Place, len(sent))
		for i, f := range sent {
			places[i] = Place{f.Room, f.Seq}
		}
		entries, err := e.rows.FilesOfEntries(e.ctx, places)
		if err != nil {
			return err
		}
		for i, f := range sent {
			if slices.ContainsFunc(entries[i].Files, func(named chat.File) bool { return named.ID == f.ID }) {
				continue
			}
			now, err := e.rows.StoredFile(e.ctx, f.Room, f.ID)
			if err == nil && now.Seq == f.Seq { // the entry was not recalled meanwhile
				e.report(f.ID, fmt.Sprintf("belongs to the entry %d of the room %s, which does not name it", f.Seq, f.Room))
			} else if err != nil && !errors.Is(err, chat.ErrNotFound) {
				return err
			}
		}
	}
	return nil
}

// EntryNamer is the part of Rows that reads entries.
type EntryNamer interface {
	// NamingEntries returns entries of rooms that are not deleted and whose bodies may name files. It looks at about most entries from a place on, the zero
	// value at first, and returns the place from which on to look next; the zero value after the last entry.
	NamingEntries(ctx context.Context, from Place, most int) (found []Place, next Place, err error)
	// FilesOfEntries returns the files that entries name, in the order of the places. A place without an entry has no Sender.
	FilesOfEntries(ctx context.Context, places []Place) ([]Named, error)
	// FilesByID returns files of any room.
	FilesByID(ctx context.Context, ids []string) (map[string]Stored, error)
}
