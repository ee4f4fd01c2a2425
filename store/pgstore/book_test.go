package pgstore

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/store/storetest"
)

// TestOneSnapshot holds up a batch between its statements, while somebody writes: the second must not see it.
func TestOneSnapshot(t *testing.T) {
	s := openStore(t, storetest.Database(t))
	lent, err := s.pool.lend(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer lent.Release()
	barrier := lent.Conn()
	if err := simple(t.Context(), barrier, `select pg_advisory_lock(1)`); err != nil {
		t.Fatal(err)
	}
	var before, after int
	read := make(chan error, 1)
	go func() {
		read <- s.look(context.Background(), func(r reader) error {
			return r.batch(oneSnapshot(func(b *pgx.Batch) {
				b.Queue(`select count(*) from users`).QueryRow(func(row pgx.Row) error { return row.Scan(&before) })
				b.Queue(`select pg_advisory_xact_lock(1)`)
				b.Queue(`select count(*) from users`).QueryRow(func(row pgx.Row) error { return row.Scan(&after) })
			}))
		})
	}()
	for waiting := false; !waiting; {
		select {
		case err := <-read:
			t.Fatalf("nothing held it up: %v", err)
		default:
		}
		if err := barrier.QueryRow(t.Context(), `select exists (select 1 from pg_locks join pg_database d on d.oid = database
			where datname = current_database() and locktype = 'advisory' and not granted)`).Scan(&waiting); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.PutUser(t.Context(), chat.User{ID: "u1"}, 0); err != nil {
		t.Fatal(err)
	}
	if err := simple(t.Context(), barrier, `select pg_advisory_unlock(1)`); err != nil {
		t.Fatal(err)
	}
	if err := <-read; err != nil || before != 0 || after != 0 {
		t.Errorf("saw %d users, then %d: %v", before, after, err)
	}
}
