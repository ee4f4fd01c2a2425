// Package sqlitestore keeps chat.Store and redpacket.Ledger in one SQLite file, embedded, in pure Go.
//
// One goroutine writes: it gathers what has arrived while the last transaction was committing, runs each
// job in a savepoint of one transaction, commits once, and then answers every caller. A failing job is
// rolled back alone. Reads go through a pool of their own and see committed data only.
//
// It must always hold: a call that returned without error is on disk (WAL, synchronous=FULL); a call
// that returned an error other than chat.ErrUnavailable changed nothing.
package sqlitestore
