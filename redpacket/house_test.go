package redpacket_test

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/memstore"
	"hongbao/store/sqlitestore"
)

// house is the real services over the real embedded engines, with a clock that the test moves and a publisher
// that remembers.
type house struct {
	store   *sqlitestore.Store
	pool    *memstore.Pool
	rooms   *chat.Service
	packets *redpacket.Service
	heard   *ear
	clock   *clock
	tries   *memstore.Limiter
	room    string
	keys    int
}

func newHouse(tb testing.TB, users ...string) *house {
	tb.Helper()
	log := slog.New(slog.DiscardHandler)
	store, err := sqlitestore.Open(context.Background(), tb.TempDir(), log)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = store.Close() })
	h := &house{store: store, heard: &ear{}, clock: &clock{t: time.UnixMilli(1_800_000_000_000)}}
	h.pool = memstore.NewPool(memstore.Options{Now: h.clock.now})
	h.tries = memstore.NewLimiter(memstore.LimiterOptions{Now: h.clock.now})
	h.rooms = chat.New(store, h.heard, chat.Options{Now: h.clock.now, Log: log})
	h.packets = redpacket.New(store, h.pool, h.rooms, h.heard, redpacket.Options{Now: h.clock.now, Log: log, Tries: h.tries})

	for _, u := range users {
		h.signIn(tb, u)
	}
	m, _, err := h.rooms.CreateRoom(context.Background(), person(users[0]), chat.CreateRoom{Key: h.key(), Name: "hall"})
	if err != nil {
		tb.Fatal(err)
	}
	h.room = m.Room.ID
	for _, u := range users[1:] {
		if _, err := h.rooms.Join(context.Background(), person(u), h.room); err != nil {
			tb.Fatal(err)
		}
	}
	return h
}

func person(id string) chat.User { return chat.User{ID: id, Name: "name of " + id} }

func (h *house) signIn(tb testing.TB, user string) {
	tb.Helper()
	if err := h.rooms.SignIn(context.Background(), person(user)); err != nil {
		tb.Fatal(err)
	}
}

func (h *house) key() string {
	h.keys++
	return "key-" + strconv.Itoa(h.keys)
}

func (h *house) credit(tb testing.TB, user string, amount redpacket.Money) {
	tb.Helper()
	if _, _, err := h.packets.Adjust(context.Background(), user, amount, h.key(), ""); err != nil {
		tb.Fatal(err)
	}
}

func (h *house) send(tb testing.TB, from string, r redpacket.SendRequest) redpacket.Packet {
	tb.Helper()
	r.Room, r.Key = h.room, h.key()
	sent, err := h.packets.Send(context.Background(), person(from), r)
	if err != nil {
		tb.Fatal(err)
	}
	return sent.Packet
}

func (h *house) grab(tb testing.TB, user string, p redpacket.Packet) redpacket.Result {
	tb.Helper()
	r, err := h.packets.Grab(context.Background(), redpacket.Try{User: user, Packet: p.ID})
	if err != nil {
		tb.Fatalf("%s grabs: %v", user, err)
	}
	return r
}

func (h *house) balance(tb testing.TB, user string) redpacket.Money {
	tb.Helper()
	a, err := h.packets.Account(context.Background(), user)
	if err != nil {
		tb.Fatal(err)
	}
	return a.Balance
}

// run drives the background tasks until the test ends.
func (h *house) run(tb testing.TB) {
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { _ = h.packets.Run(ctx) })
	tb.Cleanup(func() { cancel(); done.Wait() })
}

func (h *house) mustBalance(tb testing.TB) {
	tb.Helper()
	a, err := h.packets.Audit(context.Background())
	if err != nil {
		tb.Fatal(err)
	}
	for _, d := range a.Differences {
		tb.Errorf("audit: %s %s: %s", d.Kind, d.ID, d.What)
	}
	if a.Funded != a.InWallets+a.InPackets {
		tb.Errorf("funded %d, in wallets %d, in open packets %d", a.Funded, a.InWallets, a.InPackets)
	}
}

// clock stands still unless moved.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// ear is a publisher that remembers, and lets a test wait for what it wants to hear.
type ear struct {
	mu      sync.Mutex
	entries []chat.Entry
	events  []chat.Event
	more    chan struct{} // closed and replaced at each word
}

func (e *ear) Entry(entry chat.Entry) {
	e.hear(func() { e.entries = append(e.entries, entry) })
}

func (e *ear) ToRoom(_ string, ev chat.Event) { e.hear(func() { e.events = append(e.events, ev) }) }
func (e *ear) ToUser(_ string, ev chat.Event) { e.hear(func() { e.events = append(e.events, ev) }) }
func (e *ear) Moved(string, string)           {}

func (e *ear) hear(note func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	note()
	if e.more != nil {
		close(e.more)
		e.more = nil
	}
}

// until waits until good says yes to what was heard.
func (e *ear) until(tb testing.TB, what string, good func(entries []chat.Entry, events []chat.Event) bool) {
	tb.Helper()
	deadline := time.After(15 * time.Second)
	for {
		e.mu.Lock()
		if good(e.entries, e.events) {
			e.mu.Unlock()
			return
		}
		if e.more == nil {
			e.more = make(chan struct{})
		}
		more := e.more
		e.mu.Unlock()
		select {
		case <-more:
		case <-deadline:
			tb.Fatalf("never heard: %s", what)
		}
	}
}

// done tells whether the packet's end was heard.
func done(p redpacket.Packet) func([]chat.Entry, []chat.Event) bool {
	return func(entries []chat.Entry, _ []chat.Event) bool {
		for _, e := range entries {
			if e.Kind == chat.KindPacketDone && e.From.ID == p.From.ID && e.Room == p.Room {
				return true
			}
		}
		return false
	}
}
