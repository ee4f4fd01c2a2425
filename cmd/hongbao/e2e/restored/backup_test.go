package restored

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/enginetest"
	"hongbao/store/storetest"
	"hongbao/web/wire"
)

// TestRestoredBackup runs `hongbao backup` while users write, and restores the file as web/docs/runbooks.md says. What was acknowledged
// before the backup must be in it.
func TestRestoredBackup(t *testing.T) {
	enginetest.Nightly(t, "whole")
	binary := e2e.Build(t, "")
	s := e2e.Start(t, binary, t.TempDir(), e2e.FreeAddress(t), "HONGBAO_GUESTS=local")
	r := openRoom(t, s)
	lost := r.before()
	busy := startBusy(t, s)
	e2e.Eventually(t, 20*time.Second, "20 texts are acknowledged", func() bool { return busy.acknowledged.Load() >= 20 })
	before := busy.acknowledged.Load()
	to := t.TempDir()
	printed := run(t, nil, binary, "backup", "--data-dir", s.Dir, "--to", to)
	files, err := filepath.Glob(filepath.Join(to, "hongbao-*.db"))
	if err != nil || len(files) != 1 || !strings.Contains(printed, files[0]) || !strings.Contains(printed, filepath.Join(s.Dir, "data.key")) {
		t.Fatalf("the backup wrote %v, %v, and printed:\n%s", files, err, printed)
	}
	looked := t.TempDir()
	text, err := os.ReadFile(files[0])
	e2e.NoError(t, err)
	e2e.NoError(t, os.WriteFile(filepath.Join(looked, "hongbao.db"), text, 0o600))
	if printed := run(t, nil, binary, "audit", "--brief", "--data-dir", looked); !strings.Contains(printed, "the books balance") {
		t.Errorf("the audit of the backup printed:\n%s", printed)
	}
	e2e.Eventually(t, 20*time.Second, "texts are acknowledged after the backup", func() bool { return busy.acknowledged.Load() > before+20 })
	busy.stop()
	r.after(lost)

	s.Stop()
	file := filepath.Join(s.Dir, "hongbao.db")
	for _, name := range []string{file, file + "-wal", file + "-shm"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	e2e.NoError(t, os.Rename(files[0], file))
	if printed = run(t, nil, binary, "restored", "--data-dir", s.Dir); !strings.Contains(printed, "a new epoch has begun") {
		t.Errorf("hongbao restored printed:\n%s", printed)
	}
	s = s.Restart()
	r.awaitRenumbering()
	r.say(9)
	r.mustNotReuse(lost)
	r.mustRefund(lost.open, lost.first)
	r.mustAgree()
	if has := len(e2e.History(busy.client, busy.room, 0, e2e.All)); has < int(before) {
		t.Errorf("the restored room has %d entries, want the %d that were acknowledged before the backup", has, before)
	}
	s.MustBalance()
}

// TestCopiedToPostgres moves an embedded server to Postgres, and starts an instance on the copy at the same address. Clients go on
// where they were, and the open packets stay open.
func TestCopiedToPostgres(t *testing.T) {
	enginetest.Nightly(t, "whole")
	binary, database := e2e.Build(t, ""), storetest.Database(t)
	guests := []string{"HONGBAO_GUESTS=local", "HONGBAO_GUEST_KEY=" + e2e.GuestKey}
	s := e2e.Start(t, binary, t.TempDir(), e2e.FreeAddress(t), guests...)
	r := openRoom(t, s)
	lost := r.before()
	r.last()
	e2e.SplitRoles(t, binary, database)
	owner := []string{"HONGBAO_DATABASE_URL=" + e2e.As(t, database, "hongbao_owner")}
	s.Stop()
	printed := run(t, owner, binary, "copy", "--data-dir", s.Dir)
	if !strings.Contains(printed, filepath.Join(s.Dir, "data.key")) {
		t.Errorf("hongbao copy does not name the data key:\n%s", printed)
	}

	redis := storetest.Redis(t)
	e2e.RestrictRedis(t, redis)
	scaled := e2e.Start(t, binary, "", s.URL.Host, append(guests, "HONGBAO_DATABASE_URL="+e2e.As(t, database, "hongbao"), "HONGBAO_MIGRATE=check",
		"HONGBAO_REDIS_URL="+e2e.RedisURL(redis.Addr()), "HONGBAO_DATA_KEY_FILE="+filepath.Join(s.Dir, "data.key"))...)
	r.say(9)
	r.grab(r.clients[0], lost.open)
	r.mustAgree()
	for _, c := range r.clients {
		if c.Renumberings() != 0 {
			t.Errorf("%s loaded the room anew, want to go on where it was", c.User.Name)
		}
	}
	scaled.MustBalance()
}

// busy is a user that writes texts and sends packets without a pause.
type busy struct {
	client       *e2e.Client
	room         string
	acknowledged atomic.Int64
	stop         func()
}

func startBusy(t *testing.T, s *e2e.Server) *busy {
	t.Helper()
	b := &busy{client: e2e.Connect(t, s, s.Guest("busy"), false)}
	b.room = e2e.Call[wire.CreateRoomReply](b.client, "create_room", wire.CreateRoomRequest{Key: "busy", Name: "busy", Kind: "public"}).Room.ID
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() { failed <- b.write(ctx) }()
	b.stop = func() {
		cancel()
		e2e.NoError(t, <-failed)
	}
	return b
}

// write writes until ctx ends.
func (b *busy) write(ctx context.Context) error {
	for n := 0; ctx.Err() == nil; n++ {
		key := fmt.Sprint("busy-", n)
		if _, err := e2e.Try[wire.SendReply](context.WithoutCancel(ctx), b.client, "send", wire.SendRequest{Room: b.room, Key: key, Text: key}); err != nil {
			return err
		}
		b.acknowledged.Add(1)
		if n%5 == 0 {
			_, err := e2e.Try[wire.SendPacketReply](context.WithoutCancel(ctx), b.client, "send_packet",
				wire.SendPacketRequest{Room: b.room, Key: "packet-" + key, Total: 10, Count: new(2)})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
