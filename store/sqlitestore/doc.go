// Package sqlitestore keeps chat.Store and redpacket.Ledger in one SQLite file, embedded, in pure Go.
//
// One goroutine writes, the committer. It collects the jobs that arrive while a transaction commits, and runs each of
// them in a savepoint of the next transaction. It commits once and then answers all callers. A failing job is rolled
// back alone. Reads use their own pool of connections and see only committed data. Code that this store shares with pgstore is in
// package tables.
//
// Invariants: what a call wrote that returned without error is on disk (WAL, synchronous=FULL). A call that returned an error
// other than chat.ErrUnavailable changed nothing, with one exception: a send with an outdated commitment may have drawn the
// sender's first seed. A transaction that inserts entries, packets, claims, credits or debits adds one link to the hash chain
// of the committer (chains.go).
package sqlitestore
