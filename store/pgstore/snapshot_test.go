package pgstore

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/store/pgstore/internal/pg"
)

// TestOneSnapshot stops a batch between its two statements, and writes meanwhile. The second statement must not see
// the write.
func TestOneSnapshot(t *testing.T) {
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
		read <- s.withReader(context.Background(), func(r reader) error {
			return r.SendBatch(oneSnapshot(func(b *pgx.Batch) {
				b.Queue(`select count(*) from users`).QueryRow(func(row pgx.Row) error { return row.Scan(&before) })
				b.Queue(`select pg_advisory_xact_lock(1)`)
				b.Queue(`select count(*) from users`).QueryRow(func(row pgx.Row) error { return row.Scan(&after) })
			}))
		})
	}()
	for waiting := false; !waiting; time.Sleep(2 * time.Millisecond) {
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
