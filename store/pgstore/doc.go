// Package pgstore implements chat.Store, redpacket.Ledger and the other interfaces of an SQL store with Postgres. Any
// number of instances may share the database, directly or through PgBouncer in transaction pooling. Through PgBouncer,
// this package leaves no state in a session when a transaction ends. Calls that need no batch, and lock few rows of their own, are in
// package tables, for both databases.
//
// # The way of a write
//
// A call is a job of a committer, or it has a transaction of its own (tx.go). Four committers let many callers share one transaction,
// or one query: for entries, for claims, for packets that end, and for reading standings. Each collects the jobs that arrive while its
// last transaction runs. So the busier the store is, the less a call costs.
//
// A transaction
//
//  1. takes a pooled connection. Six are reserved for committers, lanes and reads, if the pool has more.
//  2. begins. The message that begins it also bounds each statement, each wait for a lock, and the silence of this client.
//  3. locks its rows in the order below, reads what decides, and writes.
//  4. adds a link to a hash chain, if it writes rows that are hashed (chains.go), and commits in the same message.
//
// If another transaction was in the way, or the connection was lost, it runs again until patience ends (4 s, counted from the arrival of
// the call). An earlier run may have been committed. A later run recognises its work, in most cases by ids that were drawn before the
// first run; other work is harmless to repeat. When patience ends, the call returns chat.ErrUnavailable, and its outcome is unknown.
//
// # What a call promises
//
//   - A call that returns no error has committed what it writes.
//   - A call that returns an error other than chat.ErrUnavailable has changed nothing. There are three exceptions: a send with
//     an outdated commitment may have drawn the sender's first seed, a hash chain may have a new link without rows, and a refused
//     cursor of events or of the ledger may have drawn the first epoch.
//   - An entry gets its seq under the lock of its room.
//   - Each transaction that inserts entries, packets, claims, credits, debits or events adds one link to a hash chain, and a second one
//     if it opens the chain. No two transactions of the stores that share a database use a chain at the same time. If a
//     restored database breaks this rule, one of them fails (openChain).
//
// # The order of locks
//
// A transaction that locks rows of several of these tables locks them in this order, and rows of one table by id (on Citus by
// bucket, then by id; rows of indexed_rooms by id): erasures, packets (FOR SHARE to settle, FOR UPDATE to close), users, fundings, refs, pictures, blocks,
// push_subscriptions, wallets, members, rooms, indexed_rooms, invite_links, join_requests, files (a file that shares its content before one that is finished), file_usage,
// circulation, retention. On Citus a send locks the wallet of the sender
// before fundings (lockSender). A transaction that puts a room into the index of the search for the first time locks that room between rows of indexed_rooms. No
// transaction that has locked a room waits for the row of another one there.
//
// Tables that are not listed need no place in the order. The lock of a packet protects its claims, and the lock of a room
// protects its entries and words. A row of chains is taken only if it is free, and so are the members that a deletion removes,
// after the room. Rows of reports, and rows of event_consumers followed by
// those of offline_news, are locked in transactions that lock no listed table but erasures.
//
// # How long anything may take
//
// Locks do not outlive their client by long:
//
//   - Every message of a writing transaction is one simple Query, with its values as literals (pg.Inline). So Postgres waits
//     for the next message with idle_in_transaction_session_timeout armed: 400 ms, and up to 1.6 s if it ended earlier runs
//     of the same transaction.
//   - tcp_user_timeout ends a session that is stuck while it sends a result.
//   - Keepalives end a session whose client host has vanished (2 s). They and tcp_user_timeout are not set through PgBouncer.
//
// The exceptions are the locks of migrations and of Fill (internal/schema), of Accept and Renew (internal/epoch), and the table locks
// of an audit, which only reads.
//
// Each statement of a writing transaction is bounded by patience, whatever statement_timeout the database or its roles have. A commit
// that hangs delays no call for more than 5 s, whatever queue it is in. A transaction waits only briefly for a lock of another one
// (lock_timeout). A single transaction, which serves one call, is then rolled back and run again. It holds no connection in
// between, and at most four such runs hold a connection at once.
//
// # One bad row
//
// A locked or failing row delays the jobs that do not need it only briefly (internal/batch):
//
//   - A group commit waits 200 ms for a locked row, then runs again without the jobs that need it. These jobs wait in the lane
//     of the row. A lane is a queue with a goroutine, which retries its jobs in transactions of its own.
//   - If a batch fails and one row may be the cause, the batch is halved until the failing job is alone. After a second of
//     halving, all jobs of a batch that fails get its error.
//   - A row that Postgres will always refuse is bad. Any other job that fails alone is retried in a lane, unless the worker of its row is
//     dead.
//   - If the job fails four times, and other jobs are committed meanwhile, its row is bad. If no other job is committed, the
//     database is at fault, and not the row.
//   - If time, memory or disk ran out (57014, 53200, class 58), the machine is at fault. The row is bad only if the same claim fails so for
//     three minutes, while other jobs are committed between its failures.
//   - A claim with a bad row is Unpayable, and package redpacket puts it into quarantine. For any other failed job the call
//     returns chat.ErrUnavailable.
//
// # Postgres out of reach
//
// If no connection can be made, or a call's connection is lost and then the new one too, the breaker (internal/pg) opens: all calls fail at
// once, except those of lineage.Store. It also opens when a server of another identity answers (internal/epoch). A Postgres that only
// has too many connections does not open it. A call without an answer, a session that Postgres has ended, and a
// new connection that takes too long only start a probe, which connects anew. The breaker opens if the probe fails.
//
// # Citus
//
// With the extension Citus, which Open finds, eight large tables are split over workers by a column bucket. Package
// schema lists them; all others stay on the coordinator.
//
//   - A statement that differs on Citus has what only Citus needs in a comment /*! … */. What Citus must not have is between
//     /*one*/ and /*end*/. So each statement is written once, and psql runs it as it stands on any other Postgres.
//   - Each statement that writes a split table names the buckets of its rows, so Citus sends it only to their workers.
//   - A transaction that writes split tables adds a link, even without rows to hash: so its commit has two phases.
//   - Claims are paid by citus_settle.go instead of settle.go.
//   - If the coordinator cannot reach the worker of a row, the call returns chat.ErrUnavailable without another try.
//
// # Goroutines
//
//	goroutine         started by         ends when                     may block on
//	committer (four)  Open               Close, queue and lanes empty  Postgres, bounded by patience
//	lane              a job that waits   no job waits in the lane      Postgres, bounded by patience
//
// Those of internal/pg and internal/schema are described there.
package pgstore
