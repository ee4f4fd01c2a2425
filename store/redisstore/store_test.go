package redisstore

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"

	"hongbao/chat"
	"hongbao/store/redisstore/internal/nodes"
	"hongbao/store/redisstore/internal/redistest"
	"hongbao/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(redistest.Main(m)) }

func TestOpen(t *testing.T) {
	t.Parallel() // it waits for a cluster
	for _, url := range []string{storetest.SharedRedis(t).URL(), storetest.RedisCluster(t).URL()} {
		var log bytes.Buffer
		s, err := Open(t.Context(), url, slog.New(slog.NewTextHandler(&log, nil)))
		noError(t, err)
		if err := s.Ready(t.Context()); err != nil {
			t.Error(err)
		}
		if !strings.HasPrefix(s.Name(), "Redis") || log.Len() > 0 {
			t.Errorf("%s: %s", s.Name(), log.String())
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestOpenRefuses checks that Open fails for servers on which later calls would fail, with an error that names the
// reason.
func TestOpenRefuses(t *testing.T) {
	r, master := storetest.Redis(t), storetest.Redis(t)
	admin := redistest.Dial(t, r.URL())
	refuse := func(url, want string) {
		t.Helper()
		s, err := Open(t.Context(), url, slog.New(slog.DiscardHandler))
		if err == nil {
			s.Close()
			t.Fatalf("opened, want %q", want)
		}
		if !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), nodes.Setting) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v, want %q", err, want)
		}
	}
	with := func(user string) string { return strings.Replace(r.URL(), "redis://", "redis://"+user+":secret@", 1) }
	noError(t, admin.Do(t.Context(), "acl", "setuser", "poor", "on", ">secret", "~*", "&*", "+@all", "-info").Err())
	refuse(with("poor"), "+info")
	refuse(with("nobody"), "WRONGPASS")
	refuse(strings.Replace(r.URL(), "redis://", "redis+cluster://", 1)[:len(r.URL())+6], "cluster")
	redistest.ReplicaOf(t, admin, master)
	refuse(r.URL(), "is a replica")
	if _, err := Open(t.Context(), "redis://u:secret@r/x", slog.New(slog.DiscardHandler)); err == nil {
		t.Error("Open succeeded with a malformed URL")
	}
}

func TestOpenWarns(t *testing.T) {
	r := storetest.Redis(t)
	noError(t, redistest.Dial(t, r.URL()).ConfigSet(t.Context(), "maxmemory-policy", "allkeys-lru").Err())
	var log bytes.Buffer
	s, err := Open(t.Context(), r.URL(), slog.New(slog.NewTextHandler(&log, nil)))
	noError(t, err)
	defer s.Close()
	if !strings.Contains(log.String(), "noeviction") || !strings.Contains(log.String(), "allkeys-lru") {
		t.Errorf("logged %q", log.String())
	}
	r.Kill()
	if err := s.Ready(t.Context()); !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("a dead server: %v", err)
	}
}

// noError fails the test at once if err is not nil.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
