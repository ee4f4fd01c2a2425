package files

import (
	"context"
	"io"
	"time"
)

// Objects stores the contents of files by name. A name is two parts with a slash between them, a folder and a file, each of 1 to 100 of the
// characters a-z, 0-9, '-' and '.', and not beginning with '.'. An implementation is safe for concurrent use.
//
// Errors: chat.ErrNotFound if there is no such object. Every other failure wraps chat.ErrUnavailable.
type Objects interface {
	// Put stores exactly size bytes of data under the name: whole and durable, or not at all. It replaces the object that has the name.
	// If data ends early, has more bytes or fails, Put stores nothing.
	Put(ctx context.Context, name string, data io.Reader, size int64) error
	// Get returns the content of an object from the offset on, and the size of the whole object. An offset at or beyond the end gives no bytes.
	Get(ctx context.Context, name string, offset int64) (content io.ReadCloser, size int64, err error)
	// Delete removes objects. It counts an object that is not there as removed.
	Delete(ctx context.Context, names ...string) error
	// List returns at most limit objects in the order of their names, from the first one after the given name on. If folder is not empty, it lists
	// that folder only.
	List(ctx context.Context, folder, after string, limit int) ([]Object, error)
	// Link returns an address at which anybody can read the object for the given time, or "" if the store gives out no addresses.
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
