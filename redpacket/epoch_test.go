package redpacket_test

import (
	"context"
	"database/sql"
	"log/slog"
	"testing"
	"time"

	_ "modernc.org/sqlite" // these tests change the database by hand

	"hongbao/chat"
	"hongbao/redpacket"
)

// lose runs statements that make the database forget something that it had committed.
func (h *testService) lose(t *testing.T, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", h.file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, s := range statements {
		if _, err := db.ExecContext(context.Background(), s); err != nil {
			t.Fatal(s, err)
		}
	}
}

// TestPacketsThatWereOpenWhenAnEpochBegan begins a new epoch. An open packet must be ended early. A grant whose payment the
// database has lost must be paid again. Packets that are sent later stay open.
func TestPacketsThatWereOpenWhenAnEpochBegan(t *testing.T) {
	h := newTestService(t, "boss", "a", "b")
	h.credit(t, "boss", 1000)
	p := h.send(t, "boss", redpacket.SendRequest{Total: 300, Count: 3, Mode: redpacket.Equal})
	h.grab(t, "a", p)
	h.grab(t, "b", p)
	h.packets.Idle()
	h.lose(t, `delete from claims where user_id = 'b'`, `delete from transfers where user_id = 'b'`, `delete from wallets where user_id = 'b'`)

	h.packets.Pass(t.Context())
	if got := h.status(t, p); got != redpacket.Open {
		t.Fatalf("before the epoch the packet is %s, want open", got)
	}
	h.beginEpoch(t)
	later := h.send(t, "boss", redpacket.SendRequest{Total: 200, Count: 2})
	h.packets.Pass(t.Context())
	h.packets.Pass(t.Context())

	if now, next := h.status(t, p), h.status(t, later); now != redpacket.Expired || next != redpacket.Open {
		t.Errorf("the packet from before is %s, and the later one %s; want expired and open", now, next)
	}
	if a, b, boss := h.balance(t, "a"), h.balance(t, "b"), h.balance(t, "boss"); a != 100 || b != 100 || boss != 600 {
		t.Errorf("balances %d, %d and %d; want 100, 100 and 600", a, b, boss)
	}
	if s := h.packets.Stats(); s.EndedEarly != 1 || s.SettledAtClose != 1 {
		t.Errorf("%d packets ended early, %d claims settled at a close; want one each", s.EndedEarly, s.SettledAtClose)
	}
}

// TestDrawAfterTheDatabaseWentBack loses an entry of a draw before its root was fixed, or the root after an instance has read it. The window has
// ended when the new epoch begins. The draw ends without the entry that is lost, and in the other case with the same root and the same winner.
func TestDrawAfterTheDatabaseWentBack(t *testing.T) {
	for _, rootIsLost := range []bool{false, true} {
		h := newTestService(t, "boss", "a", "b")
		h.credit(t, "boss", 1000)
		p := h.send(t, "boss", redpacket.SendRequest{Total: 300, Count: 1, Window: time.Minute})
		h.grab(t, "a", p)
		h.grab(t, "b", p)
		want, winner := redpacket.Drawn{Participants: 1}, "a"
		if rootIsLost {
			told, err := h.store.Draw(t.Context(), redpacket.DrawRequest{Ref: p.Ref, Why: redpacket.CloseEarly})
			if err != nil {
				t.Fatal(err)
			}
			want, winner = *told.Book.Draw, told.Winners()[0].User
			h.lose(t, `update packets set drawn_at = 0, root = '', draw_link = 0, expires_at = 1000`)
		} else {
			h.lose(t, `delete from participants where user_id = 'b'`, `update packets set participants = 1, expires_at = 1000`)
		}
		h.beginEpoch(t)
		h.packets.Pass(t.Context())
		h.packets.Pass(t.Context())
		book, err := h.store.Book(t.Context(), p.ID)
		if err != nil || book.Status != redpacket.Drained || book.Claims[0].User.ID != winner {
			t.Fatalf("%s with %+v, %v; want %s as the winner", book.Status, book.Claims, err, winner)
		}
		if book.Draw.Participants != want.Participants || rootIsLost && book.Draw.Root != want.Root {
			t.Errorf("drawn %+v, want %+v", *book.Draw, want)
		}
	}
}

// TestEndedEarlyCountsCloses begins a new epoch while one of two open packets cannot be closed. Each pass lists that packet
// again; only closed packets may be counted.
func TestEndedEarlyCountsCloses(t *testing.T) {
	h := newTestService(t, "boss")
	h.credit(t, "boss", 1000)
	stuck, fine := h.send(t, "boss", redpacket.SendRequest{Total: 100, Count: 1}), h.send(t, "boss", redpacket.SendRequest{Total: 100, Count: 1})
	pool := &brokenPool{Pool: h.pool, fails: func(id string) bool { return id == stuck.ID }}
	h.packets = redpacket.New(h.store, pool, h.rooms, h.published, redpacket.Options{Now: h.clock.now, Log: slog.New(slog.DiscardHandler)})
	read, err := h.store.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, renewed, err := h.store.Renew(t.Context(), read); err != nil || renewed == nil {
		t.Fatal(renewed, err)
	}
	for range 3 {
		h.packets.Pass(t.Context())
		h.clock.advance(redpacket.MostReclose)
	}
	if a, b := h.status(t, stuck), h.status(t, fine); a != redpacket.Open || b != redpacket.Expired {
		t.Fatalf("the packets are %s and %s, want open and expired", a, b)
	}
	if ended := h.packets.Stats().EndedEarly; ended != 1 {
		t.Errorf("%d packets ended early, want 1", ended)
	}
}

// TestPacketThatTheDatabaseLost loses a packet with a granted share. When it is due, the grant must go into quarantine, and the
// Pool must not list the packet any more.
func TestPacketThatTheDatabaseLost(t *testing.T) {
	h := newTestService(t, "boss", "a")
	h.credit(t, "boss", 1000)
	p := h.send(t, "boss", redpacket.SendRequest{Total: 300, Count: 3, TTL: 5 * time.Second})
	h.grab(t, "a", p)
	h.packets.Idle()
	h.lose(t, `delete from packets`, `delete from claims`, `delete from transfers where kind <> 'credit'`,
		`delete from wallets where user_id = 'a'`, `update wallets set balance = 1000`)
	h.packets.Forget()
	h.clock.advance(6 * time.Second)
	h.packets.Pass(t.Context())
	audit, err := h.store.Audit(t.Context(), nil)
	if err != nil || audit.Quarantined != 1 || h.packets.Stats().Quarantined != 1 {
		t.Errorf("%d claims in quarantine, %d counted, %v; want one", audit.Quarantined, h.packets.Stats().Quarantined, err)
	}
	h.clock.advance(time.Minute)
	if due, err := h.pool.Due(t.Context(), 10); err != nil || len(due) != 0 {
		t.Errorf("the Pool still lists %v, %v", due, err)
	}
}

// TestForget makes the service forget a packet that it knows as finished. What it says then is what the database has.
func TestForget(t *testing.T) {
	h := newTestService(t, "boss", "a")
	h.credit(t, "boss", 1000)
	p := h.send(t, "boss", redpacket.SendRequest{Total: 100, Count: 1})
	h.grab(t, "a", p)
	h.packets.Idle()
	inMemory := func() bool {
		_, ok := h.packets.FromMemory("a", p.ID, func(string, string) (chat.Standing, bool) { return chat.Standing{}, true })
		return ok
	}
	if !inMemory() {
		t.Fatal("the packet is not in memory")
	}
	h.packets.Forget()
	if inMemory() || h.packets.Stats().Remembered != 0 {
		t.Errorf("the packet is still in memory, %d bytes are remembered", h.packets.Stats().Remembered)
	}
}

// beginEpoch begins a new epoch of the ledger, as an instance does that finds the database older than it was.
func (h *testService) beginEpoch(t *testing.T) {
	t.Helper()
	read, err := h.store.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, renewed, err := h.store.Renew(t.Context(), read); err != nil || renewed == nil {
		t.Fatal(renewed, err)
	}
	h.packets.Forget()
	h.clock.advance(time.Millisecond)
}
