package redpacket_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/enginetest"
)

// deleteRoom commits the deletion of the room and closes none of its packets, like an instance that dies right after
// the commit.
func (h *testService) deleteRoom(tb testing.TB, owner string) {
	tb.Helper()
	if err := h.rooms.DeleteRoom(context.Background(), person(owner), h.room); err != nil {
		tb.Fatal(err)
	}
}

func (h *testService) status(tb testing.TB, p redpacket.Packet) redpacket.Status {
	tb.Helper()
	i, err := h.store.Image(context.Background(), p.ID)
	if err != nil {
		tb.Fatal(err)
	}
	return i.Status
}

// refunds returns the refund of each packet whose end was published.
func (e *recorder) refunds() map[string]redpacket.Money {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := map[string]redpacket.Money{}
	for _, ev := range e.events {
		if w, ok := ev.(redpacket.WalletChanged); ok && w.Kind == redpacket.TransferRefund {
			all[w.Packet] += w.Change
		}
	}
	return all
}

// TestDeletedRoomRefunds deletes a room with open packets while no background task runs. The instance that deletes the
// room must refund the packets at once.
func TestDeletedRoomRefunds(t *testing.T) {
	h := newTestService(t, "boss", "a", "b", "c")
	h.credit(t, "boss", 1000)
	week := 7 * 24 * time.Hour
	untouched := h.send(t, "boss", redpacket.SendRequest{Total: 100, Count: 3, TTL: week})
	grabbed := h.send(t, "boss", redpacket.SendRequest{Total: 200, Count: 2, TTL: week})
	drained := h.send(t, "boss", redpacket.SendRequest{Total: 50, Count: 1, TTL: week})
	unsettled := h.send(t, "boss", redpacket.SendRequest{Mode: redpacket.Equal, Total: 300, Count: 3, TTL: week})
	won := h.grab(t, "a", grabbed)
	h.grab(t, "b", drained)
	h.packets.Idle()
	// c's share is granted and not settled: the close must pay it.
	if answers, err := h.pool.Grab(t.Context(), []redpacket.Attempt{{Ref: unsettled.Ref, User: "c"}}); err != nil || answers[0].Decision != redpacket.Granted {
		t.Fatal(answers, err)
	}

	h.deleteRoom(t, "boss")
	h.packets.RoomDeleted(h.room)
	h.packets.Idle()
	for p, want := range map[*redpacket.Packet]redpacket.Status{&untouched: redpacket.Expired, &grabbed: redpacket.Expired, &drained: redpacket.Drained, &unsettled: redpacket.Expired} {
		if got := h.status(t, *p); got != want {
			t.Errorf("the packet of %d is %s, want %s", p.Total, got, want)
		}
	}
	if boss, c := h.balance(t, "boss"), h.balance(t, "c"); boss != 1000-50-won.Amount-100 || c != 100 {
		t.Errorf("boss has %d, c has %d", boss, c)
	}
	if got := h.published.refunds(); len(got) != 3 || got[untouched.ID] != 100 || got[grabbed.ID] != 200-won.Amount || got[unsettled.ID] != 200 {
		t.Errorf("published refunds: %v", got)
	}
	h.published.waitFor(t, "the wallet of the winner that the close has paid", func(_ []chat.Entry, events []chat.Event) bool {
		for _, ev := range events {
			if w, ok := ev.(redpacket.WalletChanged); ok && w.Packet == unsettled.ID && w.Kind == redpacket.TransferClaim && w.Change == 100 {
				return true
			}
		}
		return false
	})
	for user, p := range map[string]redpacket.Packet{"a": grabbed, "b": drained, "c": unsettled} {
		if r := h.grab(t, user, p); r.Outcome != redpacket.OutcomeAlready {
			t.Errorf("%s asks again: %+v", user, r)
		}
	}
	if _, err := h.packets.Grab(t.Context(), redpacket.GrabRequest{User: "b", Packet: untouched.ID}); !errors.Is(err, chat.ErrNotFound) {
		t.Errorf("a grab after the end: %v", err)
	}
	h.mustBalance(t)
}

// TestDeletedRoomIsClosedByAnotherInstance deletes a room, and the deleting instance dies before the close or between
// its steps, or the Pool loses all data. Another instance must close the packets.
func TestDeletedRoomIsClosedByAnotherInstance(t *testing.T) {
	for when, crash := range map[string]func(h *testService, p redpacket.Packet) error{
		"after the deletion's commit": func(*testService, redpacket.Packet) error { return nil },
		"after the close script": func(h *testService, p redpacket.Packet) error {
			_, err := h.pool.Close(t.Context(), p.Ref, redpacket.CloseEarly)
			return err
		},
		"after the end in SQL": func(h *testService, p redpacket.Packet) error {
			_, err := h.store.End(t.Context(), redpacket.Close{Ref: p.Ref, Reason: redpacket.Expired, At: h.clock.now(), EntryID: "done"})
			return err
		},
		"and the Pool forgot": func(h *testService, _ redpacket.Packet) error {
			h.pool.Forget()
			return nil
		},
	} {
		t.Run(when, func(t *testing.T) {
			h := newTestService(t, "boss", "a")
			h.credit(t, "boss", 300)
			p := h.send(t, "boss", redpacket.SendRequest{Mode: redpacket.Equal, Total: 300, Count: 3, TTL: 7 * 24 * time.Hour})
			h.grab(t, "a", p)
			h.deleteRoom(t, "boss")
			if err := crash(h, p); err != nil {
				t.Fatal(err)
			}
			other := redpacket.New(h.store, h.pool, h.rooms, h.published, redpacket.Options{Now: h.clock.now, Log: slog.New(slog.DiscardHandler)})
			for range 2 { // the second pass must find nothing left to close
				other.Pass(t.Context())
				if got := h.status(t, p); got != redpacket.Expired {
					t.Errorf("the packet is %s", got)
				}
			}
			if boss, a := h.balance(t, "boss"), h.balance(t, "a"); boss != 200 || a != 100 {
				t.Errorf("boss has %d, a has %d", boss, a)
			}
			if rooms, _, err := h.store.DeletedRooms(t.Context(), "", 10); err != nil || len(rooms) > 0 {
				t.Errorf("deleted rooms with open packets: %v, %v", rooms, err)
			}
			h.mustBalance(t)
		})
	}
}

// TestRoomNotDeletedKeepsItsPackets calls RoomDeleted for a room that is not deleted. No packet may be closed.
func TestRoomNotDeletedKeepsItsPackets(t *testing.T) {
	h := newTestService(t, "boss")
	h.credit(t, "boss", 300)
	p := h.send(t, "boss", redpacket.SendRequest{Total: 300, Count: 3})
	h.packets.RoomDeleted(h.room)
	h.packets.Pass(t.Context())
	if got := h.status(t, p); got != redpacket.Open {
		t.Errorf("the packet is %s", got)
	}
}

// TestSendWhileRoomIsDeleted sends packets while the room is being deleted. Each send must be refused, or the deleting
// instance must refund the packet.
func TestSendWhileRoomIsDeleted(t *testing.T) {
	rounds := 60
	if enginetest.RaceDetector() {
		rounds = 15
	}
	h := newTestService(t, "boss", "a", "b", "c")
	senders := []string{"a", "b", "c"}
	for _, user := range senders {
		h.credit(t, user, 1000)
	}
	var sent, refused int
	for round := range rounds {
		if round > 0 {
			m, _, err := h.rooms.CreateRoom(t.Context(), person("boss"), chat.CreateRoom{Key: h.key(), Name: "hall", Kind: chat.Public, Members: senders})
			if err != nil {
				t.Fatal(err)
			}
			h.room = m.Room.ID
		}
		var mu sync.Mutex
		var packets []redpacket.Packet
		var all sync.WaitGroup
		answered, deleted := make(chan struct{}, 9*2*len(senders)), make(chan struct{})
		for n, user := range append(senders, senders...) {
			all.Go(func() { // sends until the room is gone
				for again := range 9 {
					if again == 8 {
						<-deleted // on a slow machine: the last one must be refused
					}
					key := fmt.Sprintf("round-%d-%d-%d", round, n, again)
					s, err := h.packets.Send(context.Background(), person(user), redpacket.SendRequest{Room: h.room, Key: key, Total: 10, Count: 2})
					answered <- struct{}{}
					mu.Lock()
					if err == nil {
						packets = append(packets, s.Packet)
					} else if refused++; !errors.Is(err, chat.ErrNotFound) {
						t.Errorf("send: %v", err)
					}
					mu.Unlock()
					if err != nil {
						return
					}
				}
				t.Error("the room is deleted and a packet was sent")
			})
		}
		all.Go(func() {
			defer close(deleted)
			for range 1 + round%6 { // so the deletion comes before some of the sends and after others
				<-answered
			}
			h.deleteRoom(t, "boss")
			h.packets.RoomDeleted(h.room)
		})
		all.Wait()
		h.packets.Idle()
		sent += len(packets)
		for _, p := range packets {
			if got := h.status(t, p); got != redpacket.Expired {
				t.Fatalf("round %d: a packet that was sent while its room was deleted is %s", round, got)
			}
		}
	}
	if refused != rounds*2*len(senders) {
		t.Errorf("%d were sent, %d refused", sent, refused)
	}
	for _, user := range senders {
		if got := h.balance(t, user); got != 1000 {
			t.Errorf("%s has %d", user, got)
		}
	}
	h.mustBalance(t)
}

// brokenPool fails to close some packets. It fails at once, or it hangs until the test releases it.
type brokenPool struct {
	redpacket.Pool
	fails   func(packet string) bool
	hang    chan struct{} // nil: Close fails at once; otherwise Close hangs until the channel is closed
	hanging chan struct{} // receives one value for each Close that hangs
}

func (p *brokenPool) Close(ctx context.Context, r redpacket.Ref, why redpacket.CloseReason) (redpacket.Closing, error) {
	if !p.fails(r.ID) {
		return p.Pool.Close(ctx, r, why)
	}
	if p.hang != nil {
		p.hanging <- struct{}{}
		<-p.hang
	}
	return redpacket.Closing{}, fmt.Errorf("its node is dead: %w", chat.ErrUnavailable)
}

// TestFailingClosesDelayNoOther deletes rooms with hundreds of packets that cannot be closed. The other packets of
// these rooms and of other rooms must be closed without delay.
func TestFailingClosesDelayNoOther(t *testing.T) {
	const stuck = 450 // more than two pages of packets
	h := newTestService(t, "boss")
	h.credit(t, "boss", 10_000)
	ids, drawn := 0, 0
	pool := &brokenPool{Pool: h.pool, fails: func(id string) bool { return strings.HasPrefix(id, "a-") }}
	packets := redpacket.New(h.store, pool, h.rooms, h.published, redpacket.Options{
		Now: h.clock.now, Log: slog.New(slog.DiscardHandler),
		NewID: func(at time.Time) string {
			drawn++
			fails := drawn <= 2*stuck // each packet takes two ids, one for its entry
			for {                     // those that fail are in partitions of their own: of a partition that fails, one packet is closed at a time
				ids++
				id := fmt.Sprintf("b-%s-%d", chat.NewID(at), ids)
				if fails {
					id = fmt.Sprintf("a-%05d", ids)
				}
				if dead(redpacket.PartitionOf(id)) == fails {
					return id
				}
			}
		},
	})
	send := func() redpacket.Packet {
		s, err := packets.Send(t.Context(), person("boss"), redpacket.SendRequest{Room: h.room, Key: h.key(), Total: 10, Count: 1})
		if err != nil {
			t.Fatal(err)
		}
		return s.Packet
	}
	for range stuck {
		send()
	}
	last := send()
	h.deleteRoom(t, "boss")
	packets.RoomDeleted(h.room)
	packets.Idle()
	if got := h.status(t, last); got != redpacket.Expired {
		t.Errorf("behind %d packets that cannot be closed, one is %s", stuck, got)
	}

	// From here on the closes hang instead of failing. A pass over the first room hangs while another room is deleted.
	first := h.room
	m, _, err := h.rooms.CreateRoom(t.Context(), person("boss"), chat.CreateRoom{Key: h.key(), Name: "second", Kind: chat.Public})
	if err != nil {
		t.Fatal(err)
	}
	h.room = m.Room.ID
	other := send()
	h.deleteRoom(t, "boss")
	h.clock.advance(redpacket.CloseLease) // the pause after a failed close
	pool.hang, pool.hanging = make(chan struct{}), make(chan struct{}, 4*stuck)
	packets.RoomDeleted(first)
	<-pool.hanging
	pass := make(chan struct{})
	go func() {
		packets.Pass(t.Context())
		close(pass)
	}()
	h.published.waitFor(t, "packet_done in the other room", packetDone(other))
	close(pool.hang)
	<-pass
}
