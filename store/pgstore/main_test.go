package pgstore

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/store/enginetest"
	"hongbao/store/loopback"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/storetest"
)

// TestMain gives calls a minute, so that none fails because the machine is busy. Only the tests of "waits" need the real limits.
func TestMain(m *testing.M) {
	if !enginetest.Tonight("waits") {
		pg.AllowSlowServers(15)
	}
	os.Exit(storetest.Main(m))
}

var discardLog = slog.New(slog.DiscardHandler)

// template is a migrated database without rows, on the server that the tests share.
var template struct {
	mu    sync.Mutex
	name  string
	admin *pgx.Conn // makes the copies
}

// migratedDatabase copies the template and returns the URL of the copy. A copy takes less time than the migrations. The
// strategy file_copy takes two thirds of the processor time of wal_log.
func migratedDatabase(t testing.TB) string {
	t.Helper()
	if *citus {
		return citusDatabase(t)
	}
	server := storetest.SharedPostgres(t)
	template.mu.Lock()
	defer template.mu.Unlock()
	ctx := context.WithoutCancel(t.Context())
	if template.admin == nil {
		var err error
		if template.name, err = makeTemplate(ctx, server); err != nil {
			t.Fatal(err)
		}
		if template.admin, err = pgx.Connect(ctx, server.URL("postgres")); err != nil {
			t.Fatal(err)
		}
	}
	name := "hongbao_" + strings.ToLower(rand.Text()[:12])
	if _, err := template.admin.Exec(ctx, "create database "+name+" template "+template.name+" strategy file_copy"); err != nil {
		t.Fatal(err)
	}
	return server.URL(name)
}

// citus makes the tests run on a Citus coordinator with two workers: make nightly PART=citus.
var citus = flag.Bool("citus", false, "run the tests on Citus")

// citusTemplate is a migrated database without rows, on the cluster that the tests share.
var citusTemplate struct {
	once sync.Once
	url  string
	err  error
}

// citusDatabase copies the template of the cluster, and removes the copy with the test.
func citusDatabase(t testing.TB) string {
	t.Helper()
	cluster := storetest.SharedCitus(t)
	citusTemplate.once.Do(func() {
		citusTemplate.url, citusTemplate.err = makeCitusTemplate(context.WithoutCancel(t.Context()), cluster)
	})
	if citusTemplate.err != nil {
		t.Fatal(citusTemplate.err)
	}
	url, err := cluster.Copy(t.Context(), citusTemplate.url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.DropDatabase(context.WithoutCancel(t.Context()), url); err != nil {
			t.Error(err)
		}
	})
	return url
}

func makeCitusTemplate(ctx context.Context, cluster *loopback.Citus) (url string, err error) {
	if url, err = cluster.NewDatabase(ctx); err != nil {
		return "", err
	}
	s, err := Open(ctx, url, discardLog)
	if err != nil {
		return "", err
	}
	if err := s.Close(); err != nil {
		return "", err
	}
	return url, cluster.Freeze(ctx, url)
}

// makeTemplate migrates a new database and returns its name. Postgres copies only a database without connections.
func makeTemplate(ctx context.Context, server *loopback.Postgres) (name string, err error) {
	url, err := server.NewDatabase(ctx)
	if err != nil {
		return "", err
	}
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return "", err
	}
	s, err := Open(ctx, url, discardLog)
	if err != nil {
		return "", err
	}
	return pgx.Identifier{config.Database}.Sanitize(), s.Close()
}

func openStore(t testing.TB, url string) *Store {
	t.Helper()
	s, err := Open(t.Context(), url, discardLog)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// storeThrough returns a function that opens a store on a new database, at the URL that route returns.
func storeThrough(route func(database string) string) func(*testing.T) *Store {
	return func(t *testing.T) *Store {
		t.Helper()
		return openStore(t, route(migratedDatabase(t)))
	}
}

// bouncer starts a PgBouncer for this test. It returns a function that maps a database's URL to its URL through
// PgBouncer.
func bouncer(t testing.TB) func(database string) string {
	t.Helper()
	return bouncerOf(t, sharedServer(t))
}

// sharedServer returns the server with the databases of migratedDatabase.
func sharedServer(t testing.TB) *loopback.Postgres {
	t.Helper()
	if *citus {
		return storetest.SharedCitus(t).Coordinator
	}
	return storetest.SharedPostgres(t)
}

func bouncerOf(t testing.TB, p *loopback.Postgres) func(database string) string {
	t.Helper()
	b, err := loopback.StartPgBouncer(t.Context(), t.TempDir(), p, "postgres")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Stop)
	return b.URL
}

// startProxy returns a proxy that can lose data, and the URL of the database through it.
func startProxy(t testing.TB, database string) (*loopback.Proxy, string) {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	p, err := loopback.StartProxy(u.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	u.Host = p.Addr()
	return p, u.String()
}

const room = "room-1"

// createTestRoom creates one room with its owner.
func createTestRoom(t testing.TB, s *Store) {
	t.Helper()
	_, _, err := s.CreateRoom(t.Context(), chat.NewRoom{
		ID: room, Name: "the room", Kind: chat.Public, Owner: chat.User{ID: "owner"}, Key: "k", Hash: []byte("h"), At: time.Now(), MaxRooms: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
}

func storeWithRoom(t testing.TB) *Store {
	t.Helper()
	s := openStore(t, migratedDatabase(t))
	createTestRoom(t, s)
	return s
}

func textDraft(n int) chat.Draft {
	return chat.Draft{
		ID: fmt.Sprint("entry-", n), Room: room, From: chat.User{ID: "owner"}, Kind: chat.KindText,
		Key: fmt.Sprint("key-", n), Hash: []byte("h"), Body: []byte(`{"text":"hello"}`), At: time.Now(),
	}
}

func lastSeq(t testing.TB, s *Store) int64 {
	t.Helper()
	r, err := s.Room(t.Context(), room)
	if err != nil {
		t.Fatal(err)
	}
	return r.LastSeq
}
