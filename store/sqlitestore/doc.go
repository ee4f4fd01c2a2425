// Package sqlitestore implements chat.Store, redpacket.Ledger and the other interfaces of an engine in SQL. It keeps all data in
// one SQLite file. SQLite is embedded, in pure Go.
//
// One goroutine writes, the committer. It collects the jobs that arrive while a transaction commits, at most 500, and runs
// each of them in a savepoint of the next transaction. It commits once and then answers all callers. A failing job is rolled
// back alone. Reads outside of jobs use their own pool of connections and see only committed data. Code that this store
// shares with pgstore is in package tables.
//
// Invariants: what a call wrote that returned without error is on disk (WAL, synchronous=FULL), in the files that the store has opened (files). A call that returned an error
// other than chat.ErrUnavailable changed nothing, with one exception: a send with an outdated commitment may have drawn the
// sender's next seed. A transaction that inserts entries, packets, claims, credits or debits adds a link for them to the hash
// chain of the committer (chains.go).
package sqlitestore
