package files

import (
	"context"
	"time"

	"hongbao/chat"
)

// State says how far a file has come.
type State string

// The states of a file.
const (
	Coming  State = "coming"  // not received whole, or not processed yet
	Held    State = "held"    // the host has not released it yet
	Ready   State = "ready"   // an entry may have it, or has it
	Dropped State = "dropped" // nobody may read it, and the sweep removes it
	Removed State = "removed" // the host has deleted it after it was sent, and the sweep has removed it: only the row is left, which its entry names
)

// Dropping says which files may be dropped.
type Dropping int

// What may be dropped.
const (
	DropComing Dropping = iota // only a file that is coming
	DropUnsent                 // also one that is whole, but not one of an entry
	DropAny
)

// Stored is a file as its row has it.
type Stored struct {
	chat.File // of an upload that is coming, what the client says

	Room, User string
	At         time.Time
	State      State
	Upload     int64  // bytes of the upload
	Received   int64  // bytes that have come
	Seq        int64  // of its entry; 0: none
	Folder     string // where its objects are
	Hash       []byte // SHA-256 of the content
	Made       []Made // what was made of a picture
}

// Counted returns the bytes that a file counts to Limits.Total: those of the upload until it is whole, then those of all versions that are stored. A file
// whose objects are those of another one counts nothing.
func (f Stored) Counted() int64 {
	switch {
	case f.Hash == nil:
		return f.Upload
	case f.Folder != f.ID:
		return 0
	}
	all := f.Size
	for _, m := range f.Made {
		all += m.Size
	}
	return all
}

// Made is a version of a picture that the server has made.
type Made struct {
	Version Version `json:"version"`
	Type    string  `json:"type"`
	Size    int64   `json:"size"`
	Hash    []byte  `json:"hash"` // SHA-256
}

// Query selects files, of a room, of a user or of both.
type Query struct {
	Room, User string
	Next       string // cursor of the page; "": the first one
	Limit      int
}

// Rows keeps the rows of files. A method that changes something does so in one transaction. Each error wraps a chat.RequestError. For a file that
// is not there, a method returns chat.ErrNotFound.
type Rows interface {
	EntryNamer

	// AddFile adds the row of a file that is coming. If all files would then count more bytes than most (0: any number), or the user has ComingAtOnce
	// others that are coming, it returns a FieldError that wraps chat.ErrLimitExceeded.
	AddFile(ctx context.Context, f Stored, most int64) error
	// StoredFile returns a file.
	StoredFile(ctx context.Context, room, id string) (Stored, error)
	// AdvanceFile says that bytes up to Received have come: f.Received before, and to now. It returns chat.ErrConflict if other bytes have come meanwhile.
	AdvanceFile(ctx context.Context, f Stored, to int64, now time.Time) error
	// FolderOf returns the folder of a file of the room with the content of f and the same versions that is not dropped, or "".
	FolderOf(ctx context.Context, f Stored) (string, error)
	// FinishFile writes the state, body, content and folder of a file that was coming. For a file that is finished already, it returns that. It
	// returns chat.ErrConflict if f.Folder is that of another file, and no file has that content and these versions there any more.
	FinishFile(ctx context.Context, f Stored, now time.Time) (Stored, error)
	// CleanFile says that the parts of the upload are removed.
	CleanFile(ctx context.Context, room, id string) error
	// ReleaseFile makes a held file ready. For a file that is ready, it changes nothing.
	ReleaseFile(ctx context.Context, room, id string) (Stored, error)
	// DropFile drops a file. The sweep does not remove it before the given time. If the file has come further than which allows, the error is
	// chat.ErrConflict. For a dropped or removed file, DropFile changes nothing. A dropped file that still belongs to an entry is one that the host has
	// deleted: a recall, and the deletion of a room, take its files from an entry.
	DropFile(ctx context.Context, room, id string, notBefore time.Time, which Dropping) error
	// DropUnused drops files that began before the given time and have no entry, and files that are coming and of which nothing has come since stalled: at
	// most limit of each. It returns how many.
	DropUnused(ctx context.Context, before, stalled, notBefore time.Time, limit int) (int, error)
	// SweptFiles returns files that the sweep is to look at: dropped ones that may be removed now and whose objects no other file needs, and others that
	// have parts of an upload although they were finished before the given time. Those that were looked at longest ago come first.
	SweptFiles(ctx context.Context, now, finished time.Time, limit int) ([]Stored, error)
	// PutOffSweep makes SweptFiles return the file no more before the given time.
	PutOffSweep(ctx context.Context, room, id string, notBefore time.Time) error
	// ForgetFile deletes the row of a dropped file whose objects no other file needs. The row of a file that an entry names stays, as Removed. It returns
	// false if there is no such row.
	ForgetFile(ctx context.Context, room, id string) (bool, error)
	// ListFiles lists files, the newest first.
	ListFiles(ctx context.Context, q Query) (page []Stored, next string, err error)
	// AllFiles lists files in the order of their ids, from the first one after the given id on.
	AllFiles(ctx context.Context, after string, limit int) ([]Stored, error)
	// SampleFiles counts files, at most the given number of each kind.
	SampleFiles(ctx context.Context, most int) (Sample, error)
	// FileBytes returns the bytes that count to Limits.Total, and their sum over all files at the same moment, which must be equal.
	FileBytes(ctx context.Context) (counted, ofFiles int64, err error)
}
