package scaled

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/cmd/hongbao/e2e"
	"hongbao/redpacket"
	"hongbao/store"
	"hongbao/store/enginetest"
	"hongbao/store/storetest"
)

// TestScaledClocks gives one instance a wrong clock, over a real Redis and a real Postgres. The check before the start fails;
// while the instance runs, chat works and grabs answer unavailable until the clock is right.
func TestScaledClocks(t *testing.T) {
	enginetest.Nightly(t, "scaled")
	ctx := t.Context()
	redis := storetest.Redis(t)
	engines, err := store.Open(ctx, store.Config{RedisURL: redis.URL(), DatabaseURL: storetest.Database(t)}, slog.New(slog.DiscardHandler))
	e2e.NoError(t, err)
	t.Cleanup(func() { e2e.NoError(t, engines.Close()) })
	var shift atomic.Int64
	now := func() time.Time { return time.Now().Add(time.Duration(shift.Load())) }
	var log bytes.Buffer
	rooms := chat.New(engines.Chat, chat.Discard{}, chat.Options{Now: now})
	packets := redpacket.New(engines.Ledger, engines.Pool, rooms, chat.Discard{}, redpacket.Options{
		Now: now, ClocksEvery: 20 * time.Millisecond, Log: slog.New(slog.NewTextHandler(&log, nil)),
	})
	e2e.NoError(t, packets.CheckClocks(ctx))
	if all := packets.Clocks(); len(all) != 2 {
		t.Errorf("the clocks of %+v are compared, want those of Redis and Postgres", all)
	}

	ann := chat.User{ID: "ann", Name: "Ann"}
	e2e.NoError(t, rooms.SignIn(ctx, ann))
	_, _, err = packets.Adjust(ctx, redpacket.AdjustRequest{User: ann.ID, Amount: 1000, Key: "money"})
	e2e.NoError(t, err)
	room, _, err := rooms.CreateRoom(ctx, ann, chat.CreateRoom{Key: "room", Name: "room", Kind: chat.Public})
	e2e.NoError(t, err)
	sent, err := packets.Send(ctx, ann, redpacket.SendRequest{Room: room.Room.ID, Key: "packet", Total: 100, Count: 2})
	e2e.NoError(t, err)
	grab := func() error {
		_, err := packets.Grab(ctx, redpacket.GrabRequest{User: ann.ID, Packet: sent.Packet.ID})
		return err
	}

	for _, wrong := range []time.Duration{7 * time.Second, -7 * time.Second} {
		shift.Store(int64(wrong))
		err := packets.CheckClocks(ctx)
		if err == nil || !strings.Contains(err.Error(), "this instance") || !strings.Contains(err.Error(), "NTP") ||
			!strings.Contains(err.Error(), redis.Addr()) && !strings.Contains(err.Error(), "Postgres at 127.0.0.1") {
			t.Errorf("CheckClocks with a clock shifted by %v: %v, want an error that names this instance, the engine and NTP", wrong, err)
		}
		if err := grab(); !errors.Is(err, chat.ErrUnavailable) {
			t.Errorf("grab with a clock shifted by %v: %v, want %v", wrong, err, chat.ErrUnavailable)
		}
	}
	_, err = rooms.Send(ctx, ann, chat.Message{Room: room.Room.ID, Key: "text", Text: "chat goes on"})
	e2e.NoError(t, err)

	shift.Store(0)
	running, stop := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() { _ = packets.Run(running) })
	e2e.Eventually(t, 10*time.Second, "grabs succeed with the right clock", func() bool { return grab() == nil })
	shift.Store(int64(time.Hour))
	e2e.Eventually(t, 10*time.Second, "grabs are unavailable with a clock that is an hour off", func() bool { return errors.Is(packets.ClocksErr(), chat.ErrUnavailable) })
	shift.Store(0)
	e2e.Eventually(t, 10*time.Second, "grabs succeed again with the right clock", func() bool { return packets.ClocksErr() == nil && grab() == nil })
	stop()
	done.Wait()
	if !strings.Contains(log.String(), "clocks differ too much") || !strings.Contains(log.String(), "clocks agree again") {
		t.Errorf("the log lacks \"clocks differ too much\" or \"clocks agree again\":\n%s", &log)
	}
}
