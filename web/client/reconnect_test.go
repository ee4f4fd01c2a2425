package client_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hongbao/store/enginetest"
	"hongbao/store/loopback"
	"hongbao/web/client"
	"hongbao/web/client/model"
)

// These tests kill the server while calls are in progress. The underlying SDK then reads its socket without its lock.
// Therefore the names of these tests exclude them from runs with the race detector.

func proxy(t *testing.T, s *server) *loopback.Proxy {
	t.Helper()
	p, err := loopback.StartProxy(s.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// TestCrashTooMuchMissed sends more entries than a connect reply can hold, while a client is offline. The client must
// read the rest from history before it returns anything newer.
func TestCrashTooMuchMissed(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := ownServer(t)
	p := proxy(t, s)
	ann := open(t, s.addr, "ann")
	all, few := open(t, p.Addr(), "all"), open(t, p.Addr(), "few", func(o *client.Options) { o.MaxMissed = 30 })
	id := room(t, ann, all, few)
	sendTexts(t, ann, id, 1, 1)
	wantTexts(t, all, id, 1, 1)
	wantTexts(t, few, id, 1, 1)
	p.Swallow(true)
	p.Cut()
	var senders sync.WaitGroup
	extra := make([]*client.Client, 9)
	for i := range extra { // a user may send ten entries a second
		extra[i] = open(t, s.addr, fmt.Sprint("sender", i))
		must[model.Room](t)(extra[i].Join(soon(t), id))
		senders.Go(func() { sendTexts(t, extra[i], id, 1, 60) })
	}
	senders.Wait()
	p.Swallow(false)
	p.Cut()
	last := must[client.Sent](t)(ann.Send(soon(t), client.Message{Room: id, Text: "the end"})).Seq
	if last != 542 {
		t.Fatalf("the last is %d", last)
	}
	for want := int64(2); want <= last; want++ {
		if e := await[model.Entry](t, all, nil); e.Seq != want {
			t.Fatalf("got %d, not %d", e.Seq, want)
		}
	}
	skipped := await[model.Skipped](t, few, nil)
	if skipped.Room != id || skipped.After != 1 || skipped.Through < 500 || skipped.Through > 512 {
		t.Errorf("%+v", skipped)
	}
	for want := skipped.Through + 1; want <= last; want++ {
		if e := await[model.Entry](t, few, nil); e.Seq != want {
			t.Fatalf("got %d, not %d", e.Seq, want)
		}
	}
}

// TestCrashNothingDoubles sends messages while replies are lost and the server is killed repeatedly. Each message must
// be sent once. Every client must receive all of them in the order of history.
func TestCrashNothingDoubles(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := ownServer(t)
	p := proxy(t, s)
	s.credit("ann", 1000)
	ann := open(t, p.Addr(), "ann", protobuf)
	bob := open(t, p.Addr(), "bob")
	id := room(t, ann, bob)

	ctx, stop := context.WithCancel(context.Background())
	var trouble sync.WaitGroup
	defer trouble.Wait()
	defer stop()
	var rounds atomic.Int32
	trouble.Go(func() {
		for ; ctx.Err() == nil && rounds.Load() < 10; rounds.Add(1) {
			pause(ctx, rand.N(300*time.Millisecond))
			switch rounds.Load() % 3 {
			case 0:
				p.DropReplies(true)
				pause(ctx, rand.N(100*time.Millisecond))
				p.Cut()
				p.DropReplies(false)
			case 1:
				p.Cut()
			case 2:
				s.kill()
				s.start()
			}
		}
	})
	lines, packets := 0, 0
	for rounds.Load() < 10 {
		lines++
		sendTexts(t, ann, id, lines, lines)
		if packets < 5 {
			packets++
			sent := must[client.SentPacket](t)(ann.SendPacket(soon(t), client.NewPacket{Room: id, Total: 100, Count: 1}))
			g := must[model.Grab](t)(bob.Grab(soon(t), sent.Packet.ID, ""))
			if g.Amount != 100 || g.Outcome != model.Won && g.Outcome != model.Already {
				t.Errorf("%+v", g)
			}
		}
	}
	stop()
	trouble.Wait()

	var history []model.Entry
	for e, err := range bob.History(soon(t), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		history = append(history, e)
	}
	texts, sent := 0, 0
	for _, want := range history {
		switch b := want.Body.(type) {
		case model.Text:
			if texts++; b.Text != fmt.Sprint(texts) {
				t.Errorf("text %d is %q", texts, b.Text)
			}
		case model.PacketBody:
			if sent++; b.State == nil {
				t.Error("a packet of history has no state")
			}
		}
		if e := await[model.Entry](t, bob, nil); e.Seq != want.Seq || e.ID != want.ID {
			t.Fatalf("got %+v, history has %+v", e, want)
		}
	}
	if texts != lines || sent != packets {
		t.Errorf("%d texts and %d packets", texts, sent)
	}
	for c, balance := range map[*client.Client]int64{ann: 1000 - 100*int64(packets), bob: 100 * int64(packets)} {
		if a := must[model.Account](t)(c.Wallet(soon(t))); a.Balance != balance {
			t.Errorf("%s has %d", c.Me().ID, a.Balance)
		}
	}
}

// TestCrashRoomsChangedWhileOffline has a user leave one room and enter another while offline, and later enter the
// first again. Entries of the first room must be pushed again.
func TestCrashRoomsChangedWhileOffline(t *testing.T) {
	enginetest.Nightly(t, "page")
	p := proxy(t, shared)
	user := unique(t, "bob")
	var requested atomic.Int32
	ann, phone := open(t, shared.addr, unique(t, "ann")), open(t, shared.addr, user)
	bob := open(t, p.Addr(), user, func(o *client.Options) {
		o.Token, o.GetToken = "", func(context.Context) (string, error) { requested.Add(1); return token(user, "", time.Hour), nil }
	})
	lost, found := room(t, ann, bob), room(t, ann)
	p.Swallow(true)
	p.Cut()
	await[model.Offline](t, bob, nil)
	if err := phone.Leave(soon(t), lost); err != nil {
		t.Fatal(err)
	}
	must[model.Room](t)(phone.Join(soon(t), found))
	sendTexts(t, ann, lost, 1, 1)
	sendTexts(t, ann, found, 1, 1)
	p.Swallow(false)
	p.Cut()
	if c := await[model.Connected](t, bob, nil); !c.Again || len(c.Rooms) != 1 || c.Rooms[0].ID != found {
		t.Errorf("%+v", c)
	}
	if left := await[model.Left](t, bob, nil); left.Room != lost {
		t.Errorf("%+v", left)
	}
	if entered := await[model.Entered](t, bob, nil); entered.Room.ID != found || entered.Room.Name == "" || entered.Room.LastSeq != 1 {
		t.Errorf("%+v", entered)
	}
	must[model.Room](t)(phone.Join(soon(t), lost))
	if entered := await[model.Entered](t, bob, nil); entered.Room.ID != lost || entered.Room.Name == "" || entered.Room.LastSeq != 1 {
		t.Errorf("%+v", entered)
	}
	sendTexts(t, ann, lost, 2, 2)
	wantTexts(t, bob, lost, 2, 2)
	if rooms := bob.Rooms(); len(rooms) != 2 || requested.Load() != 1 {
		t.Errorf("%+v, %d tokens", rooms, requested.Load())
	}
}

// TestCrashContextDone has a call on a connection that hangs. The call must end with its context, and the command must
// be executed once nevertheless.
func TestCrashContextDone(t *testing.T) {
	enginetest.Nightly(t, "page")
	p := proxy(t, shared)
	ann, bob := open(t, p.Addr(), unique(t, "ann")), open(t, shared.addr, unique(t, "bob"))
	id := room(t, ann, bob)
	p.DropReplies(true)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := ann.Send(ctx, client.Message{Room: id, Key: "k", Text: "1"})
		ended <- err
	}()
	wantTexts(t, bob, id, 1, 1)
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	p.DropReplies(false)
	p.Cut()
	if sent := must[client.Sent](t)(ann.Send(soon(t), client.Message{Room: id, Key: "k", Text: "1"})); !sent.Dup {
		t.Errorf("%+v", sent)
	}
	wantTexts(t, ann, id, 1, 1)
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
