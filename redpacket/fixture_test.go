package redpacket_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/memstore"
	"hongbao/store/sqlitestore"
	"hongbao/store/storetest"
)

// testService holds the real services over the real embedded engines, with a clock that the test sets and a publisher
// that records.
type testService struct {
	store     *sqlitestore.Store
	file      string // file of the store's database
	pool      *memstore.Pool
	rooms     *chat.Service
	packets   *redpacket.Service
	published *recorder
	clock     *clock
	tries     *memstore.Limiter
	room      string
	keys      int
}

// migrated is a migrated database without rows.
var migrated = storetest.NewFileTemplate(sqlitestore.FileName, func(dir string) error {
	store, err := sqlitestore.Open(context.Background(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	return store.Close()
})

func newTestService(tb testing.TB, users ...string) *testService {
	tb.Helper()
	log := slog.New(slog.DiscardHandler)
	dir := migrated.Copy(tb)
	store, err := sqlitestore.Open(context.Background(), dir, log)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = store.Close() })
	h := &testService{store: store, file: filepath.Join(dir, sqlitestore.FileName), published: &recorder{}, clock: &clock{t: time.UnixMilli(1_800_000_000_000)}}
	h.pool = memstore.NewPool(memstore.Options{Now: h.clock.now})
	h.tries = memstore.NewLimiter(memstore.LimiterOptions{Now: h.clock.now})
	h.rooms = chat.New(store, h.published, chat.Options{Now: h.clock.now, Log: log})
	h.packets = redpacket.New(store, h.pool, h.rooms, h.published, redpacket.Options{Now: h.clock.now, Log: log, GuessLimiter: h.tries})

	for _, u := range users {
		h.signIn(tb, u)
	}
	m, _, err := h.rooms.CreateRoom(context.Background(), person(users[0]), chat.CreateRoom{Key: h.key(), Name: "hall", Kind: chat.Public})
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

func (h *testService) signIn(tb testing.TB, user string) {
	tb.Helper()
	if err := h.rooms.SignIn(context.Background(), person(user)); err != nil {
		tb.Fatal(err)
	}
}

func (h *testService) key() string {
	h.keys++
	return "key-" + strconv.Itoa(h.keys)
}

func (h *testService) credit(tb testing.TB, user string, amount redpacket.Money) {
	tb.Helper()
	if _, _, err := h.packets.Adjust(context.Background(), redpacket.AdjustRequest{User: user, Amount: amount, Key: h.key()}); err != nil {
		tb.Fatal(err)
	}
}

func (h *testService) send(tb testing.TB, from string, r redpacket.SendRequest) redpacket.Packet {
	tb.Helper()
	r.Room, r.Key = h.room, h.key()
	sent, err := h.packets.Send(context.Background(), person(from), r)
	if err != nil {
		tb.Fatal(err)
	}
	return sent.Packet
}

func (h *testService) grab(tb testing.TB, user string, p redpacket.Packet) redpacket.Result {
	tb.Helper()
	r, err := h.packets.Grab(context.Background(), redpacket.GrabRequest{User: user, Packet: p.ID})
	if err != nil {
		tb.Fatalf("%s grabs: %v", user, err)
	}
	return r
}

func (h *testService) balance(tb testing.TB, user string) redpacket.Money {
	tb.Helper()
	a, err := h.packets.Account(context.Background(), user)
	if err != nil {
		tb.Fatal(err)
	}
	return a.Balance
}

// run runs the service's background tasks until the test ends.
func (h *testService) run(tb testing.TB) {
	ctx, cancel := context.WithCancel(context.Background())
	packets := h.packets // a test may replace it
	var done sync.WaitGroup
	done.Go(func() { _ = packets.Run(ctx) })
	tb.Cleanup(func() { cancel(); done.Wait() })
}

// exec runs an SQL statement on the database, past the services.
func (h *testService) exec(tb testing.TB, statement string) {
	tb.Helper()
	db, err := sql.Open("sqlite", h.file)
	if err != nil {
		tb.Fatal(err)
	}
	_, err = db.ExecContext(context.Background(), statement)
	if err := errors.Join(err, db.Close()); err != nil {
		tb.Fatal(err)
	}
}

func (h *testService) mustBalance(tb testing.TB) {
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

// clock shows the same time until the test advances it.
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

// recorder is a publisher that keeps all that it is given, and lets a test wait until something was published.
type recorder struct {
	mu      sync.Mutex
	entries []chat.Entry
	events  []chat.Event
	more    chan struct{} // closed and replaced by each call of the publisher
}

func (e *recorder) Entry(entry chat.Entry) {
	e.record(func() { e.entries = append(e.entries, entry) })
}

func (e *recorder) ToRoom(_ string, ev chat.Event) {
	e.record(func() { e.events = append(e.events, ev) })
}
func (e *recorder) ToUser(_ string, ev chat.Event) {
	e.record(func() { e.events = append(e.events, ev) })
}
func (e *recorder) StandingChanged(string, string) {}

func (e *recorder) record(note func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	note()
	if e.more != nil {
		close(e.more)
		e.more = nil
	}
}

// count returns how many entries and events were published so far.
func (e *recorder) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.entries) + len(e.events)
}

// waitFor blocks until good returns true for all that was published so far. If that takes too long, the test fails and
// names what.
func (e *recorder) waitFor(tb testing.TB, what string, good func(entries []chat.Entry, events []chat.Event) bool) {
	tb.Helper()
	deadline := time.After(60 * time.Second)
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
			tb.Fatalf("not published: %s", what)
		}
	}
}

// packetDone returns a condition for waitFor: that the packet's end was published.
func packetDone(p redpacket.Packet) func([]chat.Entry, []chat.Event) bool {
	return func(entries []chat.Entry, _ []chat.Event) bool {
		for _, e := range entries {
			if e.Kind == chat.KindPacketDone && e.From.ID == p.From.ID && e.Room == p.Room {
				return true
			}
		}
		return false
	}
}
