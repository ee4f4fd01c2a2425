// Package pgstore keeps chat.Store and redpacket.Ledger in Postgres. Any number of instances may share the database,
// directly or through PgBouncer in transaction pooling. Through PgBouncer, no state of a session outlives a transaction.
//
// What needs neither a batch nor locks of several rows is in package tables, for both databases.
//
// Frequent calls share transactions. Three goroutines, for entries, for claims and for reading standings, collect the jobs
// that arrive while the last transaction runs. Every other call is a transaction of its own. A transaction with an unknown
// outcome is run again. Each run recognises by its own ids the work that an earlier run has committed.
//
// The following must always hold:
//
//   - A call that returns no error is committed.
//   - A call that returns an error other than chat.ErrUnavailable has changed nothing. There are two exceptions: a send with
//     an outdated commitment may have drawn the sender's first seed, and a refused deletion of a large room may have removed
//     members.
//   - Rows are locked in this order, and rows of one table by id: packets (FOR SHARE to settle, FOR UPDATE to close),
//     users, fundings, refs, pictures, blocks, push_subscriptions, wallets, members, rooms, invite_links, join_requests, circulation. Rows of
//     event_consumers and then of offline_news are locked in transactions that lock no others.
//   - A transaction that inserts entries, packets, claims, credits or debits adds one link to a hash chain (chains.go). No
//     two transactions use a chain at the same time, and the link costs no round trip of its own.
//   - An entry gets its seq under the lock of its room. That lock is taken last, except for the rows of invite links and join
//     requests, and the row of circulation, which only credits and debits lock.
//
// Locks do not outlive their client:
//
//   - Every message of a writing transaction is one simple Query, so Postgres waits for the next message with
//     idle_in_transaction_session_timeout armed (400 ms).
//   - tcp_user_timeout ends a session that is stuck while it sends a result.
//   - Keepalives end a session whose client host has vanished (2 s).
//
// A transaction waits only briefly for a lock of another one (lock_timeout). A single transaction is then rolled back
// and run again until patience ends (4 s). It holds no connection in between, and at most four such runs hold a
// connection at once. Six connections are reserved for group commits, lanes and reads.
//
// A locked or failing row delays only the jobs that need it. A group commit waits 200 ms for a locked row, then runs
// again without the jobs that need such rows. Each of these jobs waits in the lane of its row, which retries it in
// transactions of its own (commit.go). A batch that fails for another reason is halved until the failing job is alone,
// and that job is retried in the lane of its user. If the job fails four times while other jobs are committed, its row
// is bad: a claim is then Unpayable and goes into quarantine. If no other job is committed meanwhile, the database is at
// fault. Except for Unpayable, the call returns chat.ErrUnavailable.
//
// If no connection can be made, or a call's connection is lost and then the new one too, the breaker opens: all calls fail at
// once. It also opens when a server of another identity answers (lineage.go). A call without an answer only starts a probe,
// which connects anew. The breaker opens if the probe fails.
//
//	goroutine        started by         ends when                     may block on
//	committer (three) Open               Close, its queue empty        Postgres, bounded by patience
//	lane             a locked row       no job waits for the row      Postgres, bounded by the lock timeout
//	breaker's probe  an opened breaker  it has connected, or Close    Postgres, bounded by the connect timeout
//	suspicion        a slow call        one probe has ended           Postgres, bounded by the connect timeout
//	migration watch  a migration        the migration has ended       Postgres, bounded by watchTimeout
package pgstore
