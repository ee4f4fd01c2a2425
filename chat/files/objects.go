package files

import (
	"context"
	"errors"
	"io"
	"time"
)

// ErrData means that the data of a Put ended early, had more bytes than its size, or failed. The store is not the reason.
var ErrData = errors.New("the data is not as announced")

// Objects stores the contents of files by name. A name is two parts with a slash between them, a folder and a file, each of 1 to 100 of the
// characters a-z, 0-9, '-' and '.', and not beginning with '.'. An implementation is safe for concurrent use.
//
// Errors: chat.ErrNotFound if there is no such object, ErrData if the data of a Put is not as announced. Every other failure wraps
// chat.ErrUnavailable: the store is out of reach, ctx has ended, or the caller has given a wrong name, size or offset.
type Objects interface {
	// Put stores exactly size bytes of data under the name: whole and durable, or not at all. It replaces the object that has the name.
	// If data ends early, has more bytes or fails, Put stores nothing. If the store fails or ctx ends, the outcome may be unknown: the object
	// is not there, or it is there and whole.
	//
	// Put waits for data as long as its caller lets it. It returns when no Read of data is running, and reads nothing afterwards.
	Put(ctx context.Context, name string, data io.Reader, size int64) error
	// Get returns the content of an object from the offset on, and the size of the whole object. An offset at or beyond the end gives no bytes.
	// The caller closes the content before ctx ends. A content that breaks off ends with an error that wraps chat.ErrUnavailable, never with
	// io.EOF.
	Get(ctx context.Context, name string, offset int64) (content io.ReadCloser, size int64, err error)
	// Delete removes objects. It counts an object that is not there as removed. If it fails, any of them may be removed.
	Delete(ctx context.Context, names ...string) error
	// List returns at most limit objects in the order of the bytes of their names, from the first one after the given name on. No object needs to
	// have that name; the empty name stands before all others. If folder is not empty, List lists that folder only. Otherwise it may leave out objects
	// that were stored after the list that began with the empty name.
	List(ctx context.Context, folder, after string, limit int) ([]Object, error)
	// Link returns an address at which anybody can read the object for the given time, or "" if the store gives out no addresses. It does not
	// tell whether the object is there.
	Link(ctx context.Context, name string, as Headers, valid time.Duration) (string, error)
}

// Object is a stored object.
type Object struct {
	Name string
	Size int64
	At   time.Time // when it was stored
}

// Headers are those with which an object is served.
type Headers struct {
	Type        string // Content-Type
	Disposition string // Content-Disposition
}
