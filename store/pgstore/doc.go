// Package pgstore keeps chat.Store and redpacket.Ledger in Postgres, for any number of instances at once,
// directly or through PgBouncer in transaction pooling: nothing outlives a transaction on a connection.
//
// What comes often and much is committed in groups: one goroutine for entries and one for claims, each gathers what has
// arrived while its last transaction was committing. All else is a transaction of its own. A transaction whose
// outcome is unknown is run again: each recognises by its own ids what it has done already.
//
// It must always hold: a call that returned without error is committed; a call that returned an error other than
// chat.ErrUnavailable changed nothing; rows are locked in this order, those of one table by id: packets
// (FOR SHARE to settle, FOR UPDATE to close), users, wallets, members, rooms. An entry's seq is given under its room's
// lock, which is the last to be taken.
//
//	goroutine        started by         ends when                     may block on
//	committer (two)  Open               Close, its queue empty        Postgres, bounded by patience
//	breaker's probe  a failed connect   it has connected, or Close    Postgres, bounded by the connect timeout
package pgstore
