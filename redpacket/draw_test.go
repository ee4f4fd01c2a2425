package redpacket_test

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/redpacket/proof"
)

const drawWindow = 10 * time.Second

// inBubble runs the test in a bubble, with a service whose clock is the bubble's. The database has the same clock.
func inBubble(t *testing.T, users []string, test func(t *testing.T, h *testService)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := newTestService(t, users...)
		h.packets = redpacket.New(h.store, h.pool, h.rooms, h.published, redpacket.Options{Now: time.Now, Log: slog.New(slog.DiscardHandler), GuessLimiter: h.tries})
		h.credit(t, users[0], 10_000)
		test(t, h)
		h.mustBalance(t)
	})
}

func users(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("u%02d", i))
	}
	return all
}

// ended returns how many packet_done entries were published.
func (h *testService) ended() (n int) {
	h.published.mu.Lock()
	defer h.published.mu.Unlock()
	for _, e := range h.published.entries {
		if e.Kind == chat.KindPacketDone {
			n++
		}
	}
	return n
}

func TestDraw(t *testing.T) {
	t.Parallel()
	inBubble(t, users(8), func(t *testing.T, h *testService) {
		h.run(t)
		p := h.send(t, "u00", redpacket.SendRequest{Total: 1000, Count: 3, Window: drawWindow})
		if !p.IsDraw() || !p.ExpiresAt.Equal(p.CreatedAt.Add(drawWindow)) || p.Rest != redpacket.RestRefund {
			t.Fatalf("the packet is no draw: %+v", p)
		}
		receipts := map[string]*proof.Receipt{}
		for i := range 6 {
			r := h.grab(t, fmt.Sprintf("u%02d", i), p)
			if r.Outcome != redpacket.OutcomeEntered || r.Receipt == nil || r.Participants != i+1 {
				t.Fatalf("user %d: %+v", i, r)
			}
			receipts[r.Receipt.User] = r.Receipt
		}
		if again := h.grab(t, "u02", p); *again.Receipt != *receipts["u02"] {
			t.Errorf("a repetition has another receipt: %+v", again.Receipt)
		}
		time.Sleep(drawWindow - time.Millisecond)
		if synctest.Wait(); h.ended() != 0 {
			t.Fatal("drawn before the window has ended")
		}
		time.Sleep(drawWindow) // the drawing instance tries again if it came too early
		if synctest.Wait(); h.ended() != 1 {
			t.Fatalf("%d ends", h.ended())
		}
		won := redpacket.Money(0)
		for i := range 8 {
			switch r := h.grab(t, fmt.Sprintf("u%02d", i), p); {
			case r.Outcome == redpacket.OutcomeAlready && i < 6:
				won += r.Amount
			case r.Outcome != redpacket.OutcomeEmpty:
				t.Errorf("user %d: %+v", i, r)
			}
		}
		if won != 1000 {
			t.Errorf("%d was won", won)
		}
		checkDocument(t, h, p, receipts, "u07")
	})
}

// checkDocument checks the proof of a draw that has ended, and the receipts of all participants.
func checkDocument(t *testing.T, h *testService, p redpacket.Packet, receipts map[string]*proof.Receipt, reader string) {
	t.Helper()
	d, err := h.packets.Document(t.Context(), reader, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := proof.Check(d); err != nil {
		t.Errorf("the proof does not hold: %v", err)
	}
	public, err := hex.DecodeString(h.packets.ReceiptKey())
	if err != nil {
		t.Fatal(err)
	}
	for user, r := range receipts {
		if err := proof.CheckReceipt(ed25519.PublicKey(public), d, *r); err != nil {
			t.Errorf("receipt of %s: %v", user, err)
		}
	}
	if receipts != nil && len(d.Waves[0].Leaves) != len(receipts) {
		t.Errorf("%d leaves of %d participants", len(d.Waves[0].Leaves), len(receipts))
	}
}

func TestDrawShares(t *testing.T) {
	t.Parallel()
	inBubble(t, users(8), func(t *testing.T, h *testService) {
		h.run(t)
		p := h.send(t, "u00", redpacket.SendRequest{Total: 1000, Count: 5, Window: drawWindow, Rest: redpacket.RestShare})
		receipts := map[string]*proof.Receipt{}
		for _, user := range []string{"u01", "u02"} {
			receipts[user] = h.grab(t, user, p).Receipt
		}
		time.Sleep(2 * drawWindow)
		synctest.Wait()
		one, two := h.grab(t, "u01", p), h.grab(t, "u02", p)
		if one.Amount+two.Amount != 1000 || one.Outcome != redpacket.OutcomeAlready {
			t.Errorf("the total was not shared: %+v, %+v", one, two)
		}
		checkDocument(t, h, p, receipts, "u07")
	})
}

func TestDrawWithoutParticipants(t *testing.T) {
	t.Parallel()
	inBubble(t, users(2), func(t *testing.T, h *testService) {
		h.run(t)
		p := h.send(t, "u00", redpacket.SendRequest{Total: 1000, Count: 5, Window: drawWindow, Rest: redpacket.RestShare})
		time.Sleep(2 * drawWindow)
		synctest.Wait()
		if r := h.grab(t, "u01", p); r.Outcome != redpacket.OutcomeExpired || h.balance(t, "u00") != 10_000 {
			t.Errorf("%+v, the sender has %d", r, h.balance(t, "u00"))
		}
		checkDocument(t, h, p, nil, "u01")
	})
}

func TestDrawIsCancelledBeforeTheFirstEntry(t *testing.T) {
	t.Parallel()
	inBubble(t, users(2), func(t *testing.T, h *testService) {
		p := h.send(t, "u00", redpacket.SendRequest{Total: 1000, Count: 5, Window: drawWindow})
		for range 2 {
			if state, _, err := h.packets.Cancel(t.Context(), "u00", p.ID); err != nil || state.Status != redpacket.Cancelled {
				t.Fatalf("%+v, %v", state, err)
			}
		}
		if r := h.grab(t, "u01", p); r.Outcome != redpacket.OutcomeExpired {
			t.Errorf("entered a cancelled draw: %+v", r)
		}
		entered := h.send(t, "u00", redpacket.SendRequest{Total: 1000, Count: 5, Window: drawWindow})
		h.grab(t, "u01", entered)
		if _, _, err := h.packets.Cancel(t.Context(), "u00", entered.ID); !errors.Is(err, redpacket.ErrPacketFinished) {
			t.Errorf("cancelled after an entry: %v", err)
		}
	})
}

// Without the instance that has sent it, a draw is drawn by one that a participant has reached, or by the backstop.
func TestDrawByOthers(t *testing.T) {
	t.Parallel()
	for _, entered := range []bool{true, false} {
		t.Run(fmt.Sprint("entered=", entered), func(t *testing.T) {
			inBubble(t, users(3), func(t *testing.T, h *testService) {
				p := h.send(t, "u00", redpacket.SendRequest{Total: 1000, Count: 1, Window: drawWindow})
				_ = h.grab(t, "u01", p)
				stopped, cancel := context.WithCancel(t.Context())
				cancel()
				_ = h.packets.Run(stopped) // the sending instance has stopped

				h.packets = redpacket.New(h.store, h.pool, h.rooms, h.published, redpacket.Options{Now: time.Now, Log: slog.New(slog.DiscardHandler)})
				h.run(t)
				if entered {
					_ = h.grab(t, "u02", p)
				}
				time.Sleep(drawWindow + 3*time.Second)
				if synctest.Wait(); entered && h.ended() != 1 {
					t.Error("not drawn three seconds after the window")
				}
				time.Sleep(7 * time.Second)
				if synctest.Wait(); h.ended() != 1 {
					t.Errorf("%d ends", h.ended())
				}
			})
		})
	}
}

// A participant that has left, or was banned, stays in the draw: otherwise admins could steer it.
// TestParticipantsThatAreGoneStayInTheDraw removes a participant between entry and draw, in each way: otherwise admins and senders could steer the draw.
func TestParticipantsThatAreGoneStayInTheDraw(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]func(t *testing.T, h *testService) error{
		"left": func(t *testing.T, h *testService) error { return h.rooms.Leave(t.Context(), person("u01"), h.room) },
		"kicked": func(t *testing.T, h *testService) error {
			return h.rooms.Kick(t.Context(), person("u00"), h.room, "u01")
		},
		"banned": func(t *testing.T, h *testService) error {
			return h.rooms.Ban(t.Context(), person("u00"), h.room, "u01", time.Time{}, "")
		},
		"blocked by the sender": func(t *testing.T, h *testService) error { return h.rooms.Block(t.Context(), person("u00"), "u01") },
		"suspended": func(t *testing.T, h *testService) error {
			_, err := h.rooms.Suspend(t.Context(), "u01")
			return err
		},
		"erased": func(t *testing.T, h *testService) error {
			_, err := h.rooms.Erase(t.Context(), "u01", true)
			for err == nil && h.rooms.EraseDue(t.Context(), func(string) {}) { // until nothing but the draw is waited for
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, users(3), func(t *testing.T, h *testService) {
				h.run(t)
				p := h.send(t, "u00", redpacket.SendRequest{Total: 1000, Count: 2, Window: drawWindow})
				h.grab(t, "u01", p)
				h.grab(t, "u02", p)
				if err := remove(t, h); err != nil {
					t.Fatal(err)
				}
				if name != "erased" { // the user can send no command then
					if r := h.grab(t, "u01", p); r.Outcome != redpacket.OutcomeEntered {
						t.Errorf("a repeated grab: %+v", r)
					}
				}
				time.Sleep(2 * drawWindow)
				synctest.Wait()
				if h.balance(t, "u01") == 0 || h.balance(t, "u01")+h.balance(t, "u02") != 1000 {
					t.Errorf("%d and %d were paid", h.balance(t, "u01"), h.balance(t, "u02"))
				}
			})
		})
	}
}

func TestDrawOfADeletedRoom(t *testing.T) {
	t.Parallel()
	inBubble(t, users(3), func(t *testing.T, h *testService) {
		h.run(t)
		p := h.send(t, "u00", redpacket.SendRequest{Total: 1000, Count: 1, Window: drawWindow})
		h.grab(t, "u01", p)
		if err := h.rooms.DeleteRoom(t.Context(), person("u00"), h.room); err != nil {
			t.Fatal(err)
		}
		h.packets.RoomDeleted(h.room)
		synctest.Wait()
		if h.ended() != 1 || h.balance(t, "u01") != 1000 {
			t.Errorf("%d ends, the participant has %d", h.ended(), h.balance(t, "u01"))
		}
	})
}

// Users that enter at the same time share transactions, and each gets an answer of their own.
func TestManyEnterAtOnce(t *testing.T) {
	t.Parallel()
	inBubble(t, users(60), func(t *testing.T, h *testService) {
		h.run(t)
		p := h.send(t, "u00", redpacket.SendRequest{Total: 1000, Count: 10, Window: drawWindow})
		var all sync.WaitGroup
		for i := range 60 {
			for range 2 {
				all.Go(func() {
					user := fmt.Sprintf("u%02d", i)
					r, err := h.packets.Grab(context.Background(), redpacket.GrabRequest{User: user, Packet: p.ID})
					if err != nil || r.Outcome != redpacket.OutcomeEntered || r.Receipt.User != user {
						t.Errorf("%s: %+v, %v", user, r, err)
					}
				})
			}
		}
		all.Wait()
		time.Sleep(2 * drawWindow)
		synctest.Wait()
		states, err := h.packets.States(t.Context(), "u05", []string{p.ID})
		if err != nil || states[0].Draw.Participants != 60 || states[0].Claimed != 10 || states[0].Draw.Receipt == nil {
			t.Errorf("%+v, %v", states, err)
		}
	})
}

func TestDrawRequests(t *testing.T) {
	t.Parallel()
	h := newTestService(t, "ann")
	h.credit(t, "ann", 1000)
	for field, r := range map[string]redpacket.SendRequest{
		"window_s": {Window: time.Second}, "rest": {Rest: redpacket.RestShare}, "ttl_s": {Window: 5 * time.Second, TTL: time.Minute},
	} {
		r.Room, r.Key, r.Total, r.Count = h.room, h.key(), 10, 2
		_, err := h.packets.Send(t.Context(), person("ann"), r)
		var wrong *chat.FieldError
		if !errors.As(err, &wrong) || wrong.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	r := redpacket.SendRequest{Room: h.room, Key: h.key(), Total: 10, Count: 2, Window: 11 * time.Minute}
	if _, err := h.packets.Send(t.Context(), person("ann"), r); !errors.Is(err, chat.ErrLimitExceeded) {
		t.Errorf("a long window: %v", err)
	}
	r.Window, r.Rest = time.Minute, "keep"
	if _, err := h.packets.Send(t.Context(), person("ann"), r); !errors.Is(err, chat.ErrBadRequest) {
		t.Errorf("an unknown rest: %v", err)
	}
	r.Rest = ""
	sent, err := h.packets.Send(t.Context(), person("ann"), r)
	if err != nil {
		t.Fatal(err)
	}
	r.Window = 30 * time.Second
	if _, err := h.packets.Send(t.Context(), person("ann"), r); !errors.Is(err, chat.ErrKeyReused) {
		t.Errorf("the same key for another window: %v", err)
	}
	if _, err := h.packets.Document(t.Context(), "ann", sent.Packet.ID); !errors.Is(err, chat.ErrConflict) {
		t.Errorf("the proof of an open draw: %v", err)
	}
}

// What is paid before the end is told to nobody.
func TestDrawHidesItsWinnersUntilItsEnd(t *testing.T) {
	t.Parallel()
	inBubble(t, users(2), func(t *testing.T, h *testService) {
		p := h.send(t, "u00", redpacket.SendRequest{Total: 1000, Count: 1, Window: drawWindow})
		h.grab(t, "u01", p)
		d, err := h.store.Draw(t.Context(), redpacket.DrawRequest{Ref: p.Ref, Why: redpacket.CloseEarly})
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range d.Winners() {
			h.store.Settle(t.Context(), []redpacket.Claim{{Ref: p.Ref, Share: g.Share, User: g.User, At: time.Now()}})
		}
		hidden := func(s redpacket.State) bool {
			return s.Claimed == 0 && s.Mine == nil && s.Draw.Root == "" && s.Draw.Receipt != nil
		}
		details, err := h.packets.Details(t.Context(), "u01", p.ID, 0, 10)
		if err != nil || len(details.Claims) != 0 || !hidden(details.State) {
			t.Errorf("the details show %+v, %v", details, err)
		}
		states, err := h.packets.States(t.Context(), "u01", []string{p.ID})
		if err != nil || !hidden(states[0]) {
			t.Errorf("the states are %+v, %v", states, err)
		}
	})
}
