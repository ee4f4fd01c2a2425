// Package pgstore implements chat.Store, redpacket.Ledger and the other interfaces of an SQL store with Postgres. Any
// number of instances may share the database, directly or through PgBouncer in transaction pooling. Through PgBouncer,
// no state of a session outlives a transaction.
//
// The calls that need no batch, and no order of locks beyond that of their own few rows, are in package tables, for both databases.
//
// Frequent calls share transactions. Three goroutines, for entries, for claims and for reading standings, collect the
// jobs that arrive while the last transaction runs. Every other call that writes has a transaction of its own. A
// transaction with an unknown outcome is run again until patience ends. Each run recognises by its own ids the work
// that an earlier run has committed.
//
// The following must always hold:
//
//   - A call that returns no error is committed.
//   - A call that returns an error other than chat.ErrUnavailable has changed nothing. There are three exceptions: a send with
//     an outdated commitment may have drawn the sender's first seed, a refused deletion of a large room may have removed members,
//     and a hash chain may have a new link without rows.
//   - Rows are locked in this order, and rows of one table by id (on Citus by bucket, then by id): packets (FOR SHARE to settle,
//     FOR UPDATE to close), users, fundings, refs, pictures, blocks, push_subscriptions, wallets, members, rooms, invite_links,
//     join_requests, circulation. Rows of event_consumers and then of offline_news are locked in transactions that lock no
//     others, and so are rows of reports.
//   - A transaction that inserts entries, packets, claims, credits, debits or events adds one link to a hash chain
//     (chains.go). No two transactions use a chain at the same time. The link costs no round trip of its own, but the opening
//     of a chain does.
//   - An entry gets its seq under the lock of its room. That lock is taken last, except for the rows of invite links and join
//     requests, and the row of circulation, which only credits and debits lock.
//
// Locks do not outlive their client (except those of migrations, of Fill, which hongbao copy uses, and of Accept and Renew, which begin an epoch):
//
//   - Every message of a writing transaction is one simple Query, so Postgres waits for the next message with
//     idle_in_transaction_session_timeout armed (400 ms).
//   - tcp_user_timeout ends a session that is stuck while it sends a result.
//   - Keepalives end a session whose client host has vanished (2 s). They and tcp_user_timeout are not set through PgBouncer.
//
// A transaction waits only briefly for a lock of another one (lock_timeout). A single transaction is then rolled back
// and run again until patience ends (4 s). It holds no connection in between, and at most four such runs hold a
// connection at once. Six connections are reserved for group commits, lanes and reads, if the pool has more.
//
// A locked or failing row delays only the jobs that need it (commit.go):
//
//   - A group commit waits 200 ms for a locked row, then runs again without the jobs that need it. These jobs wait in the lane
//     of the row. A lane is a queue with a goroutine, which retries its jobs in transactions of its own.
//   - If a batch fails and one row may be the cause, the batch is halved until the failing job is alone. A row that Postgres will
//     always refuse is bad. Any other failing job is retried in the lane of its user.
//   - If the job fails four times, and other jobs are committed meanwhile, its row is bad. If no other job is committed, the
//     database is at fault, and not the row.
//   - A claim with a bad row is Unpayable and goes into quarantine. In all other cases the call returns chat.ErrUnavailable.
//
// If no connection can be made, or a call's connection is lost and then the new one too, the breaker opens: all calls
// fail at once. A Postgres that only has too many connections does not open it. It also opens when a server of another
// identity answers (lineage.go). A call without an answer only starts a probe, which connects anew. The breaker opens
// if the probe fails.
//
// With the extension Citus, which Open finds, eight large tables are split over workers by a column bucket. citus.go lists
// them; all others stay on the coordinator. On Citus:
//
//   - A statement has its Citus part in a comment /*! … */, and what Citus must not have between /*one*/ and /*end*/.
//   - Each statement that writes a split table names the buckets of its rows, so Citus sends it only to their workers.
//   - A transaction that writes split tables adds a link, even without rows to hash: so its commit has two phases.
//   - Claims are paid by citus_settle.go instead of settle.go.
//   - There is no snapshot of all nodes, so an audit that finds differences is made twice, and reports what both found.
//   - If the worker of a row is dead, the call returns chat.ErrUnavailable at once.
//
// The goroutines, besides those of pgx:
//
//	goroutine         started by         ends when                     may block on
//	committer (three) Open               Close, queue and lanes empty  Postgres, bounded by patience
//	lane              a locked row       no job waits for the row      Postgres, bounded by patience
//	breaker's probe   an opened breaker  it has connected, or Close    Postgres, bounded by the connect timeout
//	probe, if suspect a slow call        one probe has ended           Postgres, bounded by the connect timeout
//	migration watch   a migration        the migration has ended       Postgres, bounded by watchTimeout
package pgstore
