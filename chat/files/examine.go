package files

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"hongbao/chat"
)

// Examined is what an examination has looked at.
type Examined struct {
	Files   int   `json:"files"`
	Entries int   `json:"entries"` // that name files
	Objects int   `json:"objects"`
	Bytes   int64 `json:"bytes"`             // of the objects
	Removed int   `json:"removed,omitempty"` // objects that no file needed
	Counted int64 `json:"counted"`           // bytes that count to Limits.Total
}

// youngObject is how old an object must be before it is reported as one that no file needs: the row of a newer one may have been added after the
// examination has read the rows.
const youngObject = time.Hour

// checkFolder is where the check of an object store puts a small object for a moment.
const checkFolder = "check"

// removableObject is how old an object must be before it is removed as one that no file needs.
const removableObject = 24 * time.Hour

// errNoRows is the error of an examination that may remove objects and finds no row: the database may be another one.
var errNoRows = errors.New("the database has no files: nothing is removed")

// Examining says how to examine.
type Examining struct {
	Content        bool // read and hash all objects
	RemoveUnneeded bool // remove objects older than a day that no file needs
}

// Examine compares the rows with the object store and with the entries, while servers may be running: each file must have its objects, of the right size
// and, if how.Content is set, with the right hash, and each object must belong to a file. Each entry that names a file must be the one to which the file
// belongs, and the other way round. Examine calls report for each difference, with the name of an object or the id of a file.
func Examine(ctx context.Context, rows Rows, objects Objects, how Examining, report func(name, what string)) (Examined, error) {
	e := &examination{ctx: ctx, rows: rows, objects: objects, how: how, report: report}
	err := e.run()
	if err == nil {
		err = e.compareEntries()
	}
	if err == nil {
		err = e.compareBytes()
	}
	return e.Examined, err
}

// examination reads files and objects side by side: both are in the order of the ids.
type examination struct {
	Examined

	ctx     context.Context
	rows    Rows
	objects Objects
	how     Examining
	report  func(name, what string)
}

func (e *examination) run() error {
	files := &pages[Stored]{read: func(after Stored) ([]Stored, error) {
		page, err := e.rows.AllFiles(e.ctx, after.ID, examinedPage)
		if err != nil {
			return nil, err
		}
		return page, e.compareRows(page)
	}}
	stored := &pages[Object]{read: func(after Object) ([]Object, error) { return e.objects.List(e.ctx, "", after.Name, examinedPage) }}
	for {
		f, more, err := files.next()
		if err != nil {
			return err
		}
		own, err := e.objectsUpTo(stored, f.ID, more)
		if err != nil || !more {
			return err
		}
		e.Files++
		if err := e.examine(f, own); err != nil {
			return err
		}
	}
}

const examinedPage = 1000

// objectsUpTo takes the next objects up to those of the file, which it returns. Without a file it takes all that are left. It reports or removes those
// that belong to no file.
func (e *examination) objectsUpTo(stored *pages[Object], file string, isFile bool) (own []Object, err error) {
	for {
		o, left, err := stored.peek()
		if err != nil {
			return nil, err
		}
		folder, _, _ := strings.Cut(o.Name, "/")
		if !left || isFile && folder > file {
			return own, nil
		}
		_, _, _ = stored.next()
		e.Objects, e.Bytes = e.Objects+1, e.Bytes+o.Size
		switch {
		case isFile && folder == file:
			own = append(own, o)
		case folder != checkFolder:
			if err := e.unneeded(o, folder); err != nil {
				return nil, err
			}
		}
	}
}

// unneeded reports or removes an object of a folder that is not that of a file.
func (e *examination) unneeded(o Object, folder string) error {
	age := time.Since(o.At)
	if !e.how.RemoveUnneeded || age < removableObject {
		if age > youngObject {
			e.report(o.Name, "no file needs it")
		}
		return nil
	}
	rows, err := e.rows.FilesByID(e.ctx, []string{folder})
	if err != nil || len(rows) > 0 { // the row was added after the page of rows was read
		return err
	}
	if some, err := e.rows.AllFiles(e.ctx, "", 1); err != nil || len(some) == 0 {
		return cmp.Or(err, errNoRows)
	}
	e.Removed++
	return e.objects.Delete(e.ctx, o.Name)
}

// compareBytes compares the bytes that count to Limits.Total with those of the rows.
func (e *examination) compareBytes() error {
	counted, ofFiles, err := e.rows.FileBytes(e.ctx)
	if e.Counted = counted; err == nil && counted != ofFiles {
		e.report("file_usage", fmt.Sprintf("has %d bytes, but the files count %d", counted, ofFiles))
	}
	return err
}

// examine compares a file with the objects of its own folder.
func (e *examination) examine(f Stored, own []Object) error {
	if f.State == Coming || f.State == Dropped || f.State == Removed {
		return nil // what is there of it is not complete, or not removed yet
	}
	sizes := map[string]int64{}
	for _, o := range own {
		sizes[o.Name] = o.Size
	}
	for _, m := range append([]Made{{Version: Original, Size: f.Size, Hash: f.Hash}}, f.Made...) {
		name := f.object(m.Version)
		size, found := sizes[name]
		if f.Folder != f.ID || !found || e.how.Content { // one that is not listed may have been stored after the list began
			var err error
			if size, found, err = e.read(name, m); err != nil {
				return err
			}
		}
		var what string
		switch {
		case !found:
			what = "is missing"
		case size < 0:
			what = "has another content than was stored"
		case size != m.Size:
			what = fmt.Sprintf("has %d bytes, want %d", size, m.Size)
		default:
			continue
		}
		now, err := e.rows.StoredFile(e.ctx, f.Room, f.ID)
		if err == nil && now.State == f.State { // it was not removed meanwhile
			e.report(name, "of the file "+f.ID+" in the room "+f.Room+" "+what)
		} else if err != nil && !errors.Is(err, chat.ErrNotFound) {
			return err
		}
	}
	return nil
}

// read returns the size of an object. The size is negative if the object has another hash and the content is examined.
func (e *examination) read(name string, m Made) (size int64, found bool, err error) {
	body, size, err := e.objects.Get(e.ctx, name, 0)
	if errors.Is(err, chat.ErrNotFound) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	if !e.how.Content || size != m.Size {
		return size, true, nil
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, body); err != nil {
		return 0, false, err
	}
	if !bytes.Equal(hash.Sum(nil), m.Hash) {
		size = -1
	}
	return size, true, nil
}

// pages reads a list page by page.
type pages[T any] struct {
	read  func(after T) ([]T, error)
	page  []T
	last  T
	ended bool
}

// peek returns the next item without taking it; false if there is none.
func (p *pages[T]) peek() (item T, ok bool, err error) {
	if len(p.page) == 0 && !p.ended {
		if p.page, err = p.read(p.last); err != nil {
			return item, false, err
		}
		p.ended = len(p.page) == 0
	}
	if p.ended {
		return item, false, nil
	}
	return p.page[0], true, nil
}

// next returns and takes the next item; false if there is none.
func (p *pages[T]) next() (item T, ok bool, err error) {
	item, ok, err = p.peek()
	if ok {
		p.page, p.last = p.page[1:], item
	}
	return item, ok, err
}

// CopyObjects copies all objects to another store. An object that is there already with the same size is left alone, so a copy that was interrupted
// goes on. told is called after each object.
func CopyObjects(ctx context.Context, from, to Objects, told func(Examined)) (Examined, error) {
	var done Examined
	source := &pages[Object]{read: func(after Object) ([]Object, error) { return from.List(ctx, "", after.Name, examinedPage) }}
	there := &pages[Object]{read: func(after Object) ([]Object, error) { return to.List(ctx, "", after.Name, examinedPage) }}
	for {
		o, more, err := source.next()
		if err != nil || !more {
			return done, err
		}
		same, err := hasObject(there, o)
		if err != nil {
			return done, err
		}
		if !same {
			if err := copyObject(ctx, from, to, o); err != nil {
				return done, err
			}
		}
		done.Objects, done.Bytes = done.Objects+1, done.Bytes+o.Size
		told(done)
	}
}

// hasObject reports whether a store has the object. It must be asked in the order of names.
func hasObject(there *pages[Object], o Object) (bool, error) {
	for {
		other, more, err := there.peek()
		if err != nil || !more || other.Name > o.Name {
			return false, err
		}
		_, _, _ = there.next()
		if other.Name == o.Name {
			return other.Size == o.Size, nil
		}
	}
}

func copyObject(ctx context.Context, from, to Objects, o Object) error {
	body, size, err := from.Get(ctx, o.Name, 0)
	if errors.Is(err, chat.ErrNotFound) { // it was removed meanwhile
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	return to.Put(ctx, o.Name, body, size)
}
