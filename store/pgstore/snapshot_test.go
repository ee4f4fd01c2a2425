package pgstore

import (
	"context"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/tables"
)

// TestOneSnapshot stops a batch between its two statements, and writes meanwhile. The second statement must not see
// the write.
func TestOneSnapshot(t *testing.T) {
	t.Parallel()
	s := openStore(t, migratedDatabase(t))
	pooled, err := s.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer pooled.Release()
	barrier := pooled.Conn()
	if err := pg.Simple(t.Context(), barrier, `select pg_advisory_lock(1)`); err != nil {
		t.Fatal(err)
	}
	var before, after int
	read := make(chan error, 1)
	go func() {
		read <- database{s: s}.ReadBatch(context.Background(), func(_ tables.Querier, b *tables.Batch) {
			b.Each(func(row tables.Row) error { return row.Scan(&before) }, `select count(*) from users`)
			b.Exec(`select pg_advisory_xact_lock(1)`)
			b.Each(func(row tables.Row) error { return row.Scan(&after) }, `select count(*) from users`)
		})
	}()
	for waiting := false; !waiting; time.Sleep(2 * time.Millisecond) { // sleeps: polls, for nothing announces it
		select {
		case err := <-read:
			t.Fatalf("the batch did not wait: %v", err)
		default:
		}
		if err := barrier.QueryRow(t.Context(), `select exists (select 1 from pg_locks join pg_database d on d.oid = database
			where datname = current_database() and locktype = 'advisory' and not granted)`).Scan(&waiting); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := s.PutUser(t.Context(), chat.Profile{User: chat.User{ID: "u1"}}, 0); err != nil {
		t.Fatal(err)
	}
	if err := pg.Simple(t.Context(), barrier, `select pg_advisory_unlock(1)`); err != nil {
		t.Fatal(err)
	}
	if err := <-read; err != nil || before != 0 || after != 0 {
		t.Errorf("read %d users, then %d: %v", before, after, err)
	}
}
