package sqlitestore

import "time"

// sweepEvery is how often, at most, the write-ahead log is emptied. It need not be for the log's own sake: it is
// written over again and again. But until then a text that was recalled still stands in it.
const sweepEvery = time.Minute

// sweepPatience is how long one sweep waits for those who read an older state, and the queue for it.
const sweepPatience = "pragma busy_timeout(100)"

// sweepLater has the log emptied, at once if it has not been for long.
func (w *writer) sweepLater() { w.sweepDue.Reset(time.Until(w.swept.Add(sweepEvery))) }

// sweep moves all of the log into the database, where secure_delete has left nothing of the old text, and empties it.
// When somebody reads an older state, or all fails, it is tried again later. One thing it cannot reach: where entries of
// many rooms come in at once SQLite now and then moves a row to another page and leaves its bytes in the free part of
// the first; they are gone when that part is written over, or by a vacuum.
func (s *Store) sweep(w *writer) {
	w.swept = time.Now()
	if err := s.connect(w); err != nil {
		w.sweepLater()
		return
	}
	busy := true
	_, err := w.conn.ExecContext(w.ctx, sweepPatience)
	if err == nil {
		err = w.conn.QueryRowContext(w.ctx, "pragma wal_checkpoint(truncate)").Scan(&busy, new(int), new(int))
	}
	if _, again := w.conn.ExecContext(w.ctx, "pragma "+patience); again != nil {
		w.reset() // rather than go on with too little of it
	}
	if err != nil || busy {
		s.log.Info("log not emptied yet", "err", err)
		w.sweepLater()
	}
}
