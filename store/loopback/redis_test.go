package loopback

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/store/enginetest"
)

func TestRedisRestartKeepsWhatWasAskedToBeKept(t *testing.T) {
	enginetest.Need(t, "Redis")
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"in memory":   {nil, redis.Nil.Error()},
		"append only": {[]string{"--appendonly", "yes", "--appendfsync", "always"}, "kept"},
	} {
		t.Run(name, func(t *testing.T) {
			r := startRedisT(t, test.args...)
			set(t, r.Addr(), "kept")
			addr := r.Addr()
			r.Kill()
			if c, err := net.Dial("tcp", addr); err == nil {
				t.Error("a process still listens there", c.Close())
			}
			noError(t, r.Restart(t.Context()))
			if got := get(t, addr); got != test.want {
				t.Errorf("after kill: %q, want %q", got, test.want)
			}
			set(t, addr, "kept")
			if err := r.Restart(t.Context()); err != nil { // a restart while the server runs
				t.Fatal(err)
			}
			if got := get(t, addr); got != test.want {
				t.Errorf("after restart: %q, want %q", got, test.want)
			}
		})
	}
}

func TestRedisPausedIsSilentButThere(t *testing.T) {
	r := startRedisT(t)
	c := clientT(t, r.Addr())
	noError(t, c.Ping(t.Context()).Err())
	r.Pause()
	conn, err := net.Dial("tcp", r.Addr())
	if err != nil {
		t.Fatal("a paused server still has its port:", err)
	}
	defer conn.Close()
	_, err = conn.Write([]byte("PING\r\n"))
	noError(t, err)
	conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	var answer [7]byte
	if n, err := conn.Read(answer[:]); n > 0 || !isTimeout(err) {
		t.Errorf("a paused server answered %q, %v", answer[:n], err)
	}
	r.Resume()
	conn.SetReadDeadline(time.Now().Add(patience))
	if n, err := conn.Read(answer[:]); string(answer[:n]) != "+PONG\r\n" {
		t.Errorf("after Resume it answered %q, %v", answer[:n], err)
	}
}

func TestRedisPausedCanBeStoppedAndKilled(t *testing.T) {
	for name, end := range map[string]func(*Redis){"Stop": (*Redis).Stop, "Kill": (*Redis).Kill} {
		t.Run(name, func(t *testing.T) {
			r := startRedisT(t)
			r.Pause()
			began := time.Now()
			end(r)
			if took := time.Since(began); took > stopTimeout/2 && enginetest.Tonight("waits") { // a busy machine may take as long
				t.Errorf("took %v", took)
			}
			r.Pause() // no process is left to be paused
			r.Resume()
		})
	}
}

func TestRedisThatCannotStartSaysWhy(t *testing.T) {
	enginetest.Need(t, "Redis")
	_, err := StartRedis(t.Context(), t.TempDir(), "--no-such-thing", "1")
	if err == nil || !errors.Is(err, errEnded) || !strings.Contains(err.Error(), "no-such-thing") {
		t.Error(err)
	}
}

func TestStartEndsWithItsContext(t *testing.T) {
	enginetest.Need(t, "Redis and Postgres")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := StartRedis(ctx, t.TempDir()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := StartPostgres(ctx, t.TempDir()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func isTimeout(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}
