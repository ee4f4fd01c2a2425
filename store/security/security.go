// Package security keeps what an operator must be able to read after an attack: each act of an administrator or of an API
// key, and how often requests were refused, by minute and origin.
//
// It must always hold:
//
//   - An act is stored before it is carried out. If it cannot be stored, it is not carried out.
//   - Strangers cannot fill the database: an instance stores at most maxNames+1 counts a minute and kind, whatever they send, and
//     counts are deleted after retention.
//   - Stored rows are never changed.
//
// One goroutine, Recorder.Run, stores the counts. It may block on the database, bounded by storeTime.
package security

import (
	"context"
	"time"
)

// Act is a request of an administrator or of the holder of an API key.
type Act struct {
	ID       string // unique; the same ID again adds nothing
	At       time.Time
	Instance string
	Actor    string // user ID, or "key/" and the name of an API key
	Person   string // the user of the console that has used the key; "": a program did, or the actor is no key
	Client   string // address
	Method   string
	Request  string // JSON, cut at maxRequest bytes

	RequestID string // "": none was given
	Reason    string // "": none was given
}

// Count says how often something happened in one minute on one instance.
type Count struct {
	Minute   time.Time
	Instance string
	Kind     string
	Origin   string
	N        int64
}

// Store is the SQL database. All texts that it stores must be valid UTF-8 without U+0000.
type Store interface {
	// AddAct adds the act.
	AddAct(ctx context.Context, a Act) error
	// AddCounts adds counts. It leaves out a count if one with the same minute, instance, kind and origin is stored already.
	AddCounts(ctx context.Context, counts []Count) error
	// DropCounts deletes the counts of minutes before the given time, which must be 30 days ago or earlier.
	DropCounts(ctx context.Context, before time.Time) error
	// DropActs deletes the oldest acts before the given time, which must be LeastKept days ago or earlier: at most limit.
	DropActs(ctx context.Context, before time.Time, limit int) error
	// ActsAfter returns the acts after the cursor that are older than before, oldest first, at most limit. The cursor "" is
	// before the first act. next is the cursor after the last returned act. For a text that is no cursor, ActsAfter returns
	// chat.ErrBadRequest.
	ActsAfter(ctx context.Context, after string, before time.Time, limit int) (acts []Act, next string, err error)
	// ActsBefore returns the acts before the cursor, newest first, at most limit. The cursor "" is behind the newest act. Its cursors are not
	// those of ActsAfter; for another text it returns chat.ErrBadRequest.
	ActsBefore(ctx context.Context, before string, limit int) (acts []Act, next string, err error)
	// Counts returns the newest counts, at most limit, newest minute first.
	Counts(ctx context.Context, limit int) ([]Count, error)
}
