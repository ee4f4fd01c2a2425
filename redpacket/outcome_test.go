package redpacket_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
)

// doubtfulLedger fails each Send and End, though it may be committed.
type doubtfulLedger struct{ redpacket.Ledger }

func (doubtfulLedger) Send(context.Context, redpacket.UnsealedPacket) (redpacket.Sent, error) {
	return redpacket.Sent{}, chat.ErrUnavailable
}

func (doubtfulLedger) End(context.Context, redpacket.Close) (redpacket.Closed, error) {
	return redpacket.Closed{}, chat.ErrUnavailable
}

// TestUnknownOutcomeHasTheRoomCompared loses the outcome of a send, and of the end of a packet. Nobody publishes the entry that may be
// committed, so all instances must be told to compare the room with the store.
func TestUnknownOutcomeHasTheRoomCompared(t *testing.T) {
	for name, write := range map[string]func(h *testService, p redpacket.Packet) error{
		"send": func(h *testService, _ redpacket.Packet) error {
			_, err := h.packets.Send(context.Background(), person("boss"), redpacket.SendRequest{Room: h.room, Key: "k", Total: 100, Count: 10})
			return err
		},
		"end": func(h *testService, p redpacket.Packet) error {
			_, _, err := h.packets.Cancel(context.Background(), "boss", p.ID)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newTestService(t, "boss")
				defer h.rooms.Stop()
				h.credit(t, "boss", 1000)
				p := h.send(t, "boss", redpacket.SendRequest{Total: 100, Count: 10})
				h.packets = redpacket.New(doubtfulLedger{h.store}, h.pool, h.rooms, h.published, redpacket.Options{Now: h.clock.now, Log: slog.New(slog.DiscardHandler)})
				if err := write(h, p); !errors.Is(err, chat.ErrUnavailable) {
					t.Fatalf("the outcome is known: %v", err)
				}
				time.Sleep(6 * time.Second)
				synctest.Wait()
				h.published.mu.Lock()
				defer h.published.mu.Unlock()
				if !slices.Contains(h.published.events, chat.Event(chat.OutcomeUnknown{})) {
					t.Error("no instance was told")
				}
			})
		})
	}
}
