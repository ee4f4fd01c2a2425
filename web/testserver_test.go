package web

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"hongbao/chat"
	"hongbao/hub"
	"hongbao/redpacket"
	"hongbao/store/memstore"
	"hongbao/store/sqlitestore"
	"hongbao/web/wire"
)

// testServer is a whole server on the embedded engines, with a look into its database.
type testServer struct {
	*Server
	db    *sql.DB
	store *watchedStore
}

// watchedStore is the real store, which can be held up when it has read a user's rooms.
type watchedStore struct {
	chat.Store
	listed sync.Map                        // of users: what happens, once, when their rooms have been read: func()
	held   atomic.Pointer[<-chan struct{}] // standings wait for it; nil: go on
}

// whenListed has something happen when this user's rooms have been read the next time.
func (s *watchedStore) whenListed(user string, happen func()) { s.listed.Store(user, happen) }

// holdStanding holds up whoever asks how a user stands to a room, until free is closed.
func (s *watchedStore) holdStanding(free <-chan struct{}) { s.held.Store(&free) }

func (s *watchedStore) Standing(ctx context.Context, room, user string) (chat.Standing, error) {
	if held := s.held.Load(); held != nil {
		select {
		case <-*held:
		case <-ctx.Done():
		}
	}
	return s.Store.Standing(ctx, room, user)
}

func (s *watchedStore) Memberships(ctx context.Context, user string) ([]chat.Membership, error) {
	rooms, err := s.Store.Memberships(ctx, user)
	if happen, ok := s.listed.LoadAndDelete(user); ok {
		happen.(func())()
	}
	return rooms, err
}

var testSecret = []byte("a secret of thirty-two bytes, or more")

// testHouse is the engines of one or more servers.
type testHouse struct {
	log       *slog.Logger
	db        *sql.DB
	store     *watchedStore
	ledger    redpacket.Ledger
	pool      *memstore.Pool
	broker    *memstore.Broker
	directory *memstore.Directory
	tries     *memstore.Limiter

	// of those opened from now on
	wrap    func(hub.Bus) hub.Bus // around the bus
	hub     hub.Options
	rooms   chat.Options
	packets redpacket.Options
}

// newTestServer makes a server that runs until the test ends; then its books must balance. Its options may be
// changed before it is made.
func newTestServer(t *testing.T, change ...func(*Options)) *testServer {
	t.Helper()
	return newTestHouse(t).open(t, append([]func(*Options){func(o *Options) { o.Alone = true }}, change...)...)
}

func newTestHouse(t *testing.T) *testHouse {
	t.Helper()
	dir, log := t.TempDir(), slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError}))
	store, err := sqlitestore.Open(t.Context(), dir, log)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, sqlitestore.FileName)+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return &testHouse{
		log: log, db: db, store: &watchedStore{Store: store}, ledger: store,
		pool: memstore.NewPool(memstore.Options{}), broker: memstore.NewBroker(), directory: memstore.NewDirectory(),
		tries: memstore.NewLimiter(memstore.LimiterOptions{}),
	}
}

// open makes one instance over the engines. Any number may be open at once.
func (house *testHouse) open(t *testing.T, change ...func(*Options)) *testServer {
	t.Helper()
	bus := house.broker.Endpoint()
	if house.wrap != nil {
		bus = house.wrap(bus)
	}
	repair := Repair{Store: house.store}
	o := house.hub
	o.Encode, o.Ping, o.Fetch, o.LastSeqs, o.Revise = NewEncoder().Encode, Ping, repair.Fetch, repair.LastSeqs, Revise
	o.Bus, o.Log = bus, house.log
	h := hub.New(o)
	pub, presence := NewPublisher(h), house.directory.Presence()
	house.rooms.Presence, house.rooms.Log, house.packets.Log = presence, house.log, house.log
	house.packets.Tries = house.tries
	rooms := chat.New(house.store, pub, house.rooms)
	packets := redpacket.New(house.ledger, house.pool, rooms, pub, house.packets)
	options := Options{JWT: JWT{Secret: testSecret}, Presence: presence, Log: house.log}
	for _, f := range change {
		f(&options)
	}
	server, err := New(h, pub, rooms, packets, options)
	if err != nil {
		t.Fatal(err)
	}
	s := &testServer{Server: server, db: house.db, store: house.store}

	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = h.Run(ctx) })
	running.Go(func() { _ = packets.Run(ctx) })
	running.Go(func() { _ = server.Run(ctx) })
	t.Cleanup(func() {
		s.mustBalance(t)
		cancel()
		running.Wait()
	})
	return s
}

// signIn makes a user known, with some money.
func (s *testServer) signIn(t *testing.T, id string, money int64) Caller {
	t.Helper()
	c := Caller{User: chat.User{ID: id, Name: "Name of " + id}}
	if err := s.chat.SignIn(context.Background(), c.User); err != nil {
		t.Fatal(err)
	}
	if money > 0 {
		s.admin(t, "credit", wire.AdjustRequest{User: id, Amount: money, Key: "start-" + id})
	}
	return c
}

// call runs a command that must succeed, and reads its reply as a strict client would.
func call[Reply any](t *testing.T, s *testServer, c Caller, method string, request any) (reply Reply) {
	t.Helper()
	data, err := s.Call(context.Background(), c, method, encoded(t, request))
	if err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(data)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&reply); err != nil {
		t.Fatalf("%s: %v in %s", method, err, data)
	}
	if strings.Contains(string(data), "null") {
		t.Errorf("%s: null in %s", method, data)
	}
	return reply
}

// refused runs a command that must fail, and gives its error as the client hears it.
func (s *testServer) refused(t *testing.T, c Caller, method string, data []byte) wire.Error {
	t.Helper()
	run := s.Call
	if c.Admin {
		run = s.callAdmin
	}
	reply, err := run(context.Background(), c, method, data)
	if err == nil {
		t.Errorf("%s %s: answered %s", method, data, reply)
		return wire.Error{}
	}
	return s.failure(err)
}

func (s *testServer) admin(t *testing.T, method string, request any) []byte {
	t.Helper()
	reply, err := s.callAdmin(context.Background(), Caller{Admin: true}, method, encoded(t, request))
	if err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	return reply
}

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	data, err := wire.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// mustBalance checks that no money came or went, and that all the books agree.
func (s *testServer) mustBalance(t *testing.T) {
	t.Helper()
	a, err := s.packets.Audit(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Differences) > 0 || a.Funded != a.InWallets+a.InPackets {
		t.Errorf("the books do not balance: %+v", a)
	}
}

// dump is everything that the database holds.
func (s *testServer) dump(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	for _, table := range s.rows(t, `select name from sqlite_master where type = 'table' order by name`) {
		fmt.Fprintf(&out, "%s: %s\n", table, strings.Join(s.rows(t, `select * from "`+table+`"`), "\n  "))
	}
	return out.String()
}

// rows gives each row of a query as one text.
func (s *testServer) rows(t *testing.T, query string) (all []string) {
	t.Helper()
	rows, err := s.db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	values, targets := make([]sql.NullString, len(columns)), make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			t.Fatal(err)
		}
		texts := make([]string, len(values))
		for i, v := range values {
			texts[i] = v.String
		}
		all = append(all, strings.Join(texts, " | "))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
