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

// Mark names the link that a transaction has added to a hash chain. The server never changes or deletes a link, and gives no later
// link the same id, which contains its time. So a link that is missing was lost.
type Mark struct {
	Chain int64 `json:"chain"`
	Link  int64 `json:"link"`
}

// Store is the SQL database. Its methods work while the store refuses all other calls.
type Store interface {
	// State reads the state of the database. If the server has another identity than Serve has said, the store refuses all
	// other calls until it reaches a server of the identity that Serve has said last.
	State(ctx context.Context) (State, error)
	// Serve makes the store answer calls on a server of this identity only.
	Serve(identity string)
	// Recent returns the newest commits of this process. In pgstore, each transaction that adds a link to a hash chain adds a mark. Such
	// are those that append entries, send or end a packet, pay claims, credit, debit, or write events. In sqlitestore, Recent stays
	// empty.
	Recent() *Recent
	// OnLoss sets a function that the store calls when a transaction finds that the newest link of its chain is gone. The
	// function must not block.
	OnLoss(lost func(reason string))
	// Missing returns how many of the marked links the database does not have.
	Missing(ctx context.Context, marks []Mark) (int, error)
	// Accept stores the identity of the server, unless the state has changed since it was read. It returns the state as it
	// is now.
	Accept(ctx context.Context, read State) (State, error)
	// Renew begins a new epoch, unless the epoch or the identity has changed since the state was read: see Renewed. It returns the state
	// as it is now, and a nil Renewed if it has begun no epoch.
	Renew(ctx context.Context, read State) (State, *Renewed, error)
	// ForgetCached drops what the store remembers from SQL, except Recent, and except what never changes, such as the shares of packets.
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

// Note is what one instance knew of the newest commits at the time At.
type Note struct {
	At    time.Time `json:"at"`
	Epoch string    `json:"epoch"`
	Marks []Mark    `json:"marks"` // the newest commits, oldest first
}
