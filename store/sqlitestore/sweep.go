package sqlitestore

import "time"

// sweepEvery is the shortest pause between two sweeps of the write-ahead log. A sweep is not needed for the log's
// size, because SQLite reuses the log. But until a sweep the log may contain a recalled text or a deleted setting.
const sweepEvery = time.Minute

// sweepTimeout is the pragma that makes a sweep wait at most 100 ms for readers of an older snapshot. Queued jobs wait
// meanwhile.
const sweepTimeout = "pragma busy_timeout(100)"

// sweepLater schedules a sweep for when sweepEvery has passed since the last one: at once if it already has.
func (w *writer) sweepLater() { w.sweepDue.Reset(time.Until(w.swept.Add(sweepEvery))) }

// sweep moves the whole write-ahead log into the database file and empties the log. In the file, secure_delete leaves
// nothing of a recalled text, except in the case below. If the sweep fails, or a reader of an older snapshot prevents it, it
// is retried later.
//
// In this case bytes of a recalled text remain. When entries of many rooms arrive at once, SQLite may move a row to
// another page. The row's bytes then stay in the free part of the first page until that part is overwritten, or until a
// vacuum.
func (s *Store) sweep(w *writer) {
	w.swept = time.Now()
	if err := s.connect(w); err != nil {
		w.sweepLater()
		return
	}
	busy := true
	_, err := w.conn.ExecContext(w.ctx, sweepTimeout)
	if err == nil {
		err = w.conn.QueryRowContext(w.ctx, "pragma wal_checkpoint(truncate)").Scan(&busy, new(int), new(int))
	}
	if _, again := w.conn.ExecContext(w.ctx, "pragma "+lockTimeout); again != nil {
		w.reset() // closes the connection: its short timeout must not apply to other jobs
	}
	if err != nil || busy {
		s.log.Info("write-ahead log not emptied yet", "err", err)
		w.sweepLater()
	}
}
