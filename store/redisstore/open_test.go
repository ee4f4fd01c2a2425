package redisstore

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"hongbao/chat"
	"hongbao/store/enginetest"
	"hongbao/store/loopback"
	"hongbao/store/storetest"
)

func TestOpen(t *testing.T) {
	for _, url := range []string{storetest.SharedRedis(t).URL(), storetest.RedisCluster(t).URL()} {
		var log bytes.Buffer
		s, err := Open(t.Context(), url, slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
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
	admin := testClient(t, r.URL())
	refuse := func(url, want string) {
		t.Helper()
		s, err := Open(t.Context(), url, slog.New(slog.DiscardHandler))
		if err == nil {
			s.Close()
			t.Fatalf("opened, want %q", want)
		}
		if !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), Setting) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v, want %q", err, want)
		}
	}
	with := func(user string) string { return strings.Replace(r.URL(), "redis://", "redis://"+user+":secret@", 1) }
	if err := admin.Do(t.Context(), "acl", "setuser", "poor", "on", ">secret", "~*", "&*", "+@all", "-info").Err(); err != nil {
		t.Fatal(err)
	}
	refuse(with("poor"), "+info")
	refuse(with("nobody"), "WRONGPASS")
	refuse(strings.Replace(r.URL(), "redis://", "redis+cluster://", 1)[:len(r.URL())+6], "cluster")
	replicaOf(t, admin, master)
	refuse(r.URL(), "is a replica")
	if _, err := Open(t.Context(), "redis://u:secret@r/x", slog.New(slog.DiscardHandler)); err == nil {
		t.Error("Open succeeded with a malformed URL")
	}
}

func TestOpenWarns(t *testing.T) {
	r := storetest.Redis(t)
	if err := testClient(t, r.URL()).ConfigSet(t.Context(), "maxmemory-policy", "allkeys-lru").Err(); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	s, err := Open(t.Context(), r.URL(), slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if !strings.Contains(log.String(), "noeviction") || !strings.Contains(log.String(), "allkeys-lru") {
		t.Errorf("logged %q", log.String())
	}
	r.Kill()
	if err := s.Ready(t.Context()); !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("a dead server: %v", err)
	}
}

// TestJudge checks versions of Redis and fields of INFO that no server of these tests has.
func TestJudge(t *testing.T) {
	info := func(version, rest string) string { return "# Server\r\nredis_version:" + version + "\r\n" + rest }
	const master = "role:master\r\nmaster_replid:abc\r\n"
	for _, c := range []struct {
		info    string
		cluster bool
		want    string // of the error, or "" for none
		warning string
	}{
		{info("6.2.0", master+"maxmemory_policy:noeviction\r\n"), false, "", ""},
		{info("7.4.1", master+"maxmemory_policy:noeviction\r\n"), true, "", ""},
		{info("10.2.1", master), false, "", "does not tell"},
		{info("6.0.16", master), false, "6.2 or later", ""},
		{info("6.2.14", master), true, "7.0 or later", ""},
		{info("", master), false, "6.2 or later", ""},
		{info("7.0.0", "role:slave\r\nmaster_replid:abc\r\n"), false, "is a replica", ""},
		{info("7.0.0", "role:master\r\n"), false, "replication id", ""},
	} {
		var log bytes.Buffer
		err := judge(c.info, c.cluster, "r:1", slog.New(slog.NewTextHandler(&log, nil)))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.info, err, c.want)
		}
		if (log.Len() > 0) != (c.warning != "") || !strings.Contains(log.String(), c.warning) {
			t.Errorf("%q: logged %q", c.info, log.String())
		}
	}
}

// TestPoolFailsOver checks that grabs go on after the sentinels promote another master.
func TestPoolFailsOver(t *testing.T) {
	enginetest.Need(t, "Redis")
	t.Parallel() // it waits for the failover
	s, err := loopback.StartSentinel(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	store, err := Open(t.Context(), s.URL(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	c := startGrabbers(t, store.pool, 1, 20)
	c.await(100)
	s.Master().Kill()
	c.await(100)
}
