// Package pgstore implements chat.Store, redpacket.Ledger and the other interfaces of an SQL store with Postgres. Any
// number of instances may share the database, directly or through PgBouncer in transaction pooling. Through PgBouncer,
// this package leaves no state in a session when a transaction ends.
//
// Most calls that need no batch, and no order of locks beyond that of their own few rows, are in package tables, for both databases.
//
// Frequent calls share transactions or queries. Four goroutines, for entries, for claims, for packets that end and for reading
// standings, collect the jobs that arrive while the last transaction or query runs. Every other call that writes has one or more transactions of
// its own. A call's transaction with an unknown outcome is run again until patience ends. A later run recognises the work
// that an earlier run has committed, in most cases by ids that were drawn before the first run. Other work is harmless to repeat.
//
// The following must always hold:
//
//   - A call that returns no error has committed what it writes.
//   - A call that returns an error other than chat.ErrUnavailable has changed nothing. There are four exceptions: a send with
//     an outdated commitment may have drawn the sender's first seed, a refused deletion of a large room may have removed members,
//     a hash chain may have a new link without rows, and a refused cursor of events or of the ledger may have drawn the first epoch.
//   - A transaction that locks rows of several of these tables locks them in this order, and rows of one table by id (on Citus by
//     bucket, then by id): packets (FOR SHARE to settle, FOR UPDATE to close), users, fundings, refs, pictures, blocks,
//     push_subscriptions, wallets, members, rooms, invite_links, join_requests, circulation.
//   - Tables that are not listed need no place in the order. The lock of a packet protects its claims, and the lock of a room
//     protects its entries. A row of chains is taken only if it is free. Rows of reports, and rows of event_consumers followed by
//     those of offline_news, are locked in transactions that lock no listed table.
//   - A transaction that inserts entries, packets, claims, credits, debits or events adds one link to a hash chain
//     (chains.go), and a second one if it opens the chain. No two transactions of the stores that share a database use a chain at
//     the same time. If a restored database breaks this rule, one of them fails (openChain). The link costs no round trip of its
//     own, but the opening of a chain does.
//   - An entry gets its seq under the lock of its room. Of the listed tables, only invite_links, join_requests and circulation
//     are locked after rooms. Credits, debits and the recount of circulation lock its row.
//
// Locks do not outlive their client by long. The exceptions are the locks of migrations and of Fill (internal/schema), of
// Accept and Renew (internal/epoch), and the table locks of an audit, which only reads:
//
//   - Every message of a writing transaction is one simple Query, so Postgres waits for the next message with
//     idle_in_transaction_session_timeout armed (400 ms, and up to 1.6 s if earlier runs of the same
//     transaction were ended by it).
//   - tcp_user_timeout ends a session that is stuck while it sends a result.
//   - Keepalives end a session whose client host has vanished (2 s). They and tcp_user_timeout are not set through PgBouncer.
//
// Each statement of a writing transaction is bounded by patience, whatever statement_timeout the database or its roles have.
// A call that waits for other calls of the store has its patience from its arrival on (arrived; batch.Committer counts itself). So a
// commit that hangs delays no call for more than 5 s, whatever queue it is in.
// A transaction waits only briefly for a lock of another one (lock_timeout). A single transaction, which serves one call and
// is no group commit, is then rolled back and run again until patience ends (4 s). It holds no connection in between, and at
// most four such runs hold a connection at once. Six connections are reserved for group commits, lanes and reads, if the pool
// has more.
//
// A locked or failing row delays the jobs that do not need it only briefly (internal/batch):
//
//   - A group commit waits 200 ms for a locked row, then runs again without the jobs that need it. These jobs wait in the lane
//     of the row. A lane is a queue with a goroutine, which retries its jobs in transactions of its own.
//   - If a batch fails and one row may be the cause, the batch is halved until the failing job is alone. After a second of
//     halving, all jobs of a batch that fails get its error.
//   - A row that Postgres will always refuse is bad. Any other job that fails alone is retried in the lane of its user, unless the
//     worker of its row is dead.
//   - If the job fails four times, and other jobs are committed meanwhile, its row is bad. If no other job is committed, the
//     database is at fault, and not the row.
//   - If time, memory or disk ran out (57014, 53200, class 58), the machine is at fault. The row is bad only if the same claim fails so for
//     three minutes, while other jobs are committed between its failures.
//   - A claim with a bad row is Unpayable, and package redpacket puts it into quarantine. For any other failed job the call
//     returns chat.ErrUnavailable.
//
// If no connection can be made, or a call's connection is lost and then the new one too, the breaker (internal/pg) opens: all calls fail at
// once, except those of lineage.Store. A Postgres that only has too many connections does not open the breaker. It also
// opens when a server of another identity answers (internal/epoch). A call without an answer, a session that Postgres has ended, and a
// new connection that takes too long only start a probe, which connects anew. The breaker opens if the probe fails.
//
// With the extension Citus, which Open finds, eight large tables are split over workers by a column bucket. Package
// schema lists them; all others stay on the coordinator. On Citus:
//
//   - A statement that differs on Citus has what only Citus needs in a comment /*! … */. What Citus must not have is between
//     /*one*/ and /*end*/.
//   - Each statement that writes a split table names the buckets of its rows, so Citus sends it only to their workers.
//   - A transaction that writes split tables adds a link, even without rows to hash: so its commit has two phases.
//   - Claims are paid by citus_settle.go instead of settle.go.
//   - If the coordinator cannot reach the worker of a row, the call returns chat.ErrUnavailable without another try.
//
// The goroutines, besides those of internal/pg and internal/schema:
//
//	goroutine         started by         ends when                     may block on
//	committer (three) Open               Close, queue and lanes empty  Postgres, bounded by patience
//	lane              a job that waits   no job waits in the lane      Postgres, bounded by patience
package pgstore
