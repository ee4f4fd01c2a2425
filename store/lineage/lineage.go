package lineage

import (
	"context"
	"time"
)

// State is what the database says about itself.
type State struct {
	Identity string // of the server that answered: it changes when another server, timeline or database takes over; "": it never changes
	Stored   string // the identity under which the database was used last; "": it was never stored
	Epoch    string
}

// Mark names the link that a transaction has added to a hash chain. A link never changes and is never deleted, and no
// later link has its id, which contains its time.
type Mark struct {
	Chain int64 `json:"chain"`
	Link  int64 `json:"link"`
}

// Store is the SQL database. Its methods work while the store refuses all other calls.
type Store interface {
	// State reads the state of the database. If the server has another identity than Serve has said, the store refuses all
	// calls until the next Serve.
	State(ctx context.Context) (State, error)
	// Serve makes the store answer calls on a server of this identity only.
	Serve(identity string)
	// Recent returns the newest commits of this process. Each transaction that adds a link to a hash chain adds a mark: each
	// that appends entries, sends or ends a packet, pays a claim, credits or debits.
	Recent() *Recent
	// OnLoss sets a function that the store calls when a transaction finds that the newest link of its chain is gone. The
	// function must not block.
	OnLoss(lost func(reason string))
	// Missing returns how many of the marked links the database does not have.
	Missing(ctx context.Context, marks []Mark) (int, error)
	// Accept stores the identity of the server, unless the state has changed since it was read. It returns the state as it
	// is now.
	Accept(ctx context.Context, read State) (State, error)
	// Renew begins a new epoch, unless the state has changed since it was read: see Renewed. It returns the state as it is
	// now, and nil if the state had changed.
	Renew(ctx context.Context, read State) (State, *Renewed, error)
	// ForgetCached drops everything that the store remembers from SQL, except Recent.
	ForgetCached()
}

// Renewed is what the beginning of an epoch has changed. All of it is one transaction.
type Renewed struct {
	Epoch   string
	Seeds   int64 // users whose next seed was forgotten
	Packets int64 // open packets that will be ended early
}

// Notes keeps notes of all instances outside SQL.
type Notes interface {
	// Save replaces the note of one instance.
	Save(ctx context.Context, instance string, n Note) error
	// Load returns the notes of all instances. It returns none if all were lost.
	Load(ctx context.Context) ([]Note, error)
}

// Note is what one instance knew of SQL at some time.
type Note struct {
	At    time.Time `json:"at"`
	Epoch string    `json:"epoch"`
	Marks []Mark    `json:"marks"` // the newest commits, oldest first
}
