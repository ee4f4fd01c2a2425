package pgstore

import (
	"context"
	"slices"
	"sync"
	"testing"

	"hongbao/chat"
	"hongbao/migrations"
	"hongbao/store/storetest"
)

// tables lists what the database has.
func tables(t *testing.T, s *Store) (names []string) {
	t.Helper()
	err := s.look(t.Context(), func(r reader) (err error) {
		names, err = rows(r, scanText, `select tablename::text from pg_tables where schemaname = current_schema() order by 1`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestMigrateFromEmptyAndAgain(t *testing.T) {
	url := storetest.Database(t)
	first := openStore(t, url)
	want := tables(t, first)
	for _, name := range []string{"entries", "members", "rooms", "schema_migrations", "wallets"} {
		if !slices.Contains(want, name) {
			t.Errorf("no table %s among %v", name, want)
		}
	}
	if _, err := first.PutUser(t.Context(), chat.User{ID: "kept"}, 0); err != nil {
		t.Fatal(err)
	}
	again := openStore(t, url) // beside the first one
	if got := tables(t, again); !slices.Equal(got, want) {
		t.Errorf("the second start has made %v of %v", got, want)
	}
	files, err := migrations.Postgres.ReadDir("postgres")
	if err != nil {
		t.Fatal(err)
	}
	await(t, again, `select (select count(*) from users) = 1 and (select count(*) from schema_migrations) = $1`, len(files))
}

// TestMigrateByTenAtOnce: instances that all find the database empty, directly and through PgBouncer.
func TestMigrateByTenAtOnce(t *testing.T) {
	for name, route := range map[string]func(string) string{
		"direct": func(url string) string { return url }, "through PgBouncer": bouncer(t),
	} {
		t.Run(name, func(t *testing.T) {
			url := route(storetest.Database(t))
			epochs := make([]string, 10)
			var wg sync.WaitGroup
			for i := range epochs {
				wg.Go(func() {
					s, err := Open(context.Background(), url, quiet)
					if err != nil {
						t.Error(err)
						return
					}
					if epochs[i], err = s.Epoch(context.Background()); err != nil {
						t.Error(err)
					}
					if err := s.Close(); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if epochs[0] == "" || len(slices.Compact(epochs)) != 1 {
				t.Errorf("they do not agree on the epoch: %q", epochs)
			}
		})
	}
}

// TestFailedMigrationLeavesNothing: a file that fails half-way is not there at all, and is tried again.
func TestFailedMigrationLeavesNothing(t *testing.T) {
	url := storetest.Database(t)
	s := openStore(t, url)
	err := s.look(t.Context(), func(r reader) error {
		return r.batch(batchOf(`delete from schema_migrations`, `drop table settings, users, rooms, members, entries, reactions, requests, wallets, packets, claims, transfers`))
	})
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Open(t.Context(), url, quiet); err == nil { // there is a quarantine already
		_ = again.Close()
		t.Error("migrated over what is there")
	}
	if got := tables(t, s); !slices.Equal(got, []string{"quarantine", "schema_migrations"}) {
		t.Errorf("tables %v are left", got)
	}
}
