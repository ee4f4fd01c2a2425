package pgstore

import (
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/store/loopback"
	"hongbao/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m)) }

var quiet = slog.New(slog.DiscardHandler)

func openStore(t testing.TB, url string) *Store {
	t.Helper()
	s, err := Open(t.Context(), url, quiet)
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

// bouncer gives the URL of a database through a PgBouncer of this test's own.
func bouncer(t testing.TB) func(database string) string {
	t.Helper()
	return bouncerBefore(t, storetest.SharedPostgres(t))
}

func bouncerBefore(t testing.TB, p *loopback.Postgres) func(database string) string {
	t.Helper()
	b, err := loopback.StartPgBouncer(t.Context(), t.TempDir(), p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Stop)
	return b.URL
}

// through gives the URL of a database through a proxy, which loses what the test wants.
func through(t testing.TB, database string) (*loopback.Proxy, string) {
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

// furnish makes one room with its owner.
func furnish(t testing.TB, s *Store) {
	t.Helper()
	_, _, err := s.CreateRoom(t.Context(), chat.NewRoom{
		ID: room, Name: "the room", Kind: chat.Public, Owner: chat.User{ID: "owner"}, Key: "k", Hash: []byte("h"), At: time.Now(), MaxRooms: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
}

func furnished(t testing.TB) *Store {
	t.Helper()
	s := openStore(t, storetest.Database(t))
	furnish(t, s)
	return s
}

func text(n int) chat.Draft {
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
