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
	"time"

	"hongbao/chat"
	"hongbao/chat/files"
	"hongbao/hub"
	"hongbao/hub/hubtest"
	"hongbao/redpacket"
	"hongbao/store/memstore"
	"hongbao/store/objects"
	"hongbao/store/sqlitestore"
	"hongbao/store/storetest"
	"hongbao/web/user/api"
	"hongbao/web/user/auth"
	"hongbao/web/user/push"
	"hongbao/web/wire"
)

// Limits of package session, for tests that observe them through a socket.
const (
	maxInFlight = 32 // largest number of unanswered commands of one connection
	maxRunning  = 8  // largest number of these that run concurrently
	admitTime   = 2 * time.Second
)

// standingTime is long: a slow machine takes much less for a command that does not wait for standings.
const standingTime = 15 * time.Second

func withStandingTime(o *Options) { o.StandingWithin = standingTime }

// testServer is a complete server on the embedded stores. Tests have access to its database.
type testServer struct {
	*Server
	db    *sql.DB
	store *watchedStore
	other func() *redpacket.Service // returns the packets of another instance
}

// watchedStore is the real store. A test can block some of its calls and run code after others.
type watchedStore struct {
	chat.Store
	listed sync.Map                        // of users: what happens, once, when their rooms have been read: func()
	stood  sync.Map                        // of users: what happens, once, when a standing of theirs has been read: func()
	held   atomic.Pointer[<-chan struct{}] // standings wait for it; nil: go on
}

// whenListed sets a function that is called once, after this user's rooms were read next.
func (s *watchedStore) whenListed(user string, happen func()) { s.listed.Store(user, happen) }

// whenStood calls happen, once, when a standing of this user has been read and before it is returned.
func (s *watchedStore) whenStood(user string, happen func()) { s.stood.Store(user, happen) }

// holdStanding blocks calls of Standing until free is closed.
func (s *watchedStore) holdStanding(free <-chan struct{}) { s.held.Store(&free) }

func (s *watchedStore) Standing(ctx context.Context, room, user string) (chat.Standing, error) {
	if held := s.held.Load(); held != nil {
		select {
		case <-*held:
		case <-ctx.Done():
		}
	}
	standing, err := s.Store.Standing(ctx, room, user)
	if happen, ok := s.stood.LoadAndDelete(user); ok {
		happen.(func())()
	}
	return standing, err
}

func (s *watchedStore) Memberships(ctx context.Context, user string) ([]chat.Membership, error) {
	rooms, err := s.Store.Memberships(ctx, user)
	if happen, ok := s.listed.LoadAndDelete(user); ok {
		happen.(func())()
	}
	return rooms, err
}

var (
	testSecret   = []byte("a secret of thirty-two bytes, or more")
	testGuestKey = []byte("a guest key of exactly 32 bytes!")
)

// testEngines holds the stores that one or more test servers share.
type testEngines struct {
	log       *slog.Logger
	db        *sql.DB
	store     *watchedStore
	ledger    redpacket.Ledger
	pool      *memstore.Pool
	broker    *hubtest.Broker
	directory *memstore.Directory
	tries     *memstore.Limiter

	// of those opened from now on
	wrap    func(hub.Bus) hub.Bus // wraps the bus of servers opened from now on
	hub     hub.Options
	rooms   chat.Options
	packets redpacket.Options
	push    bool // there is Web Push, to loopback addresses

	noSearch bool
	files    files.Rows
	objects  files.Objects // nil: there are no files
}

// testFilesTotal is less than one file may have.
const testFilesTotal = 24 << 20

// newTestServer returns a server that runs until the test ends. At the end its books must balance. change may modify
// the server's options.
func newTestServer(t *testing.T, change ...func(*Options)) *testServer {
	t.Helper()
	return newTestEngines(t).open(t, append([]func(*Options){func(o *Options) { o.Alone = true }}, change...)...)
}

// migrated is a migrated database without rows. Opening a copy takes 20 ms of CPU time under the race detector. Creating a new file takes
// 80 ms, because of its migrations.
var migrated = storetest.NewFileTemplate(sqlitestore.FileName, func(dir string) error {
	store, err := sqlitestore.Open(context.Background(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	return store.Close()
})

func newTestEngines(t *testing.T) *testEngines {
	t.Helper()
	dir, log := migrated.Copy(t), slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError}))
	store, err := sqlitestore.Open(t.Context(), dir, log)
	noError(t, err)
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, sqlitestore.FileName)+"?mode=ro")
	noError(t, err)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	folder, err := objects.OpenFolder(filepath.Join(dir, "files"))
	noError(t, err)
	return &testEngines{
		files: store, objects: folder,
		log: log, db: db, store: &watchedStore{Store: store}, ledger: store,
		pool: memstore.NewPool(memstore.Options{}), broker: hubtest.NewBroker(), directory: memstore.NewDirectory(),
		tries: memstore.NewLimiter(memstore.LimiterOptions{}),
		hub:   hub.Options{PongWithin: time.Minute}, // a client answers pings only while its test reads, which on a slow machine may not be soon
	}
}

// open returns a server that uses these stores. Any number of servers may be open at the same time.
func (engines *testEngines) open(t *testing.T, change ...func(*Options)) *testServer {
	t.Helper()
	bus := engines.broker.Endpoint()
	if engines.wrap != nil {
		bus = engines.wrap(bus)
	}
	repair := push.Repair{Store: engines.store}
	o := engines.hub
	o.Encode, o.Decode, o.Ping, o.Fetch, o.LastSeqs, o.Revise = push.NewEncoder().Encode, push.Decode, push.Ping, repair.Fetch, repair.LastSeqs, push.Revise
	o.Bus, o.Log = bus, engines.log
	h := hub.New(o)
	pub, presence := push.NewPublisher(h, chat.NewID(time.Now())), engines.directory.Presence()
	engines.rooms.Presence, engines.rooms.Log, engines.packets.Log = presence, engines.log, engines.log
	engines.packets.GuessLimiter = engines.tries
	options := Options{JWT: auth.JWT{Secret: testSecret}, Presence: presence, Log: engines.log}
	told := chat.Publisher(pub)
	if engines.push {
		options.Push = newPush(t, pub, engines.store, presence)
		told = options.Push
	}
	if !engines.noSearch {
		engines.rooms.Indexer = chat.NewIndexer(engines.store, told, engines.log)
		told = engines.rooms.Indexer
	}
	rooms := chat.New(engines.store, told, engines.rooms)
	packets := redpacket.New(engines.ledger, engines.pool, rooms, told, engines.packets)
	if engines.objects != nil {
		options.Files = files.New(engines.files, engines.objects, rooms, files.Options{
			Limits: files.Limits{Bytes: wire.DefaultLimits().FileBytes, Total: testFilesTotal}, Key: testSecret, Log: engines.log,
		})
		options.FileDay = wire.DefaultLimits().FileDayBytes
	}
	for _, f := range change {
		f(&options)
	}
	server, err := New(h, pub, rooms, packets, options)
	noError(t, err)
	h.SetPeers(server.Peers())
	pub.CacheStandings(rooms)
	s := &testServer{Server: server, db: engines.db, store: engines.store}
	s.other = func() *redpacket.Service {
		return redpacket.New(engines.ledger, engines.pool, rooms, pub, engines.packets)
	}

	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = h.Run(ctx) })
	running.Go(func() { _ = packets.Run(ctx) })
	running.Go(func() { _ = server.Run(ctx) })
	if engines.push {
		running.Go(func() { options.Push.Run(ctx) })
	}
	t.Cleanup(func() {
		s.mustBalance(t)
		cancel()
		running.Wait()
	})
	return s
}

// signIn makes a user known to the server and gives them some money.
func (s *testServer) signIn(t *testing.T, id string, money int64) api.Caller {
	t.Helper()
	c := api.Caller{User: chat.User{ID: id, Name: "Name of " + id}}
	noError(t, s.chat.SignIn(context.Background(), c.User))
	if money > 0 {
		s.admin(t, "credit", wire.AdjustRequest{User: id, Amount: money, Key: "start-" + id})
	}
	return c
}

// upload uploads a file of the kind "file" as the user.
func (s *testServer) upload(t *testing.T, c api.Caller, room, content string) wire.File {
	t.Helper()
	f := call[wire.FileState](t, s, c, "begin_file", wire.BeginFileRequest{Room: room, Kind: "file", Name: "report.txt", Size: int64(len(content))}).File
	state, err := s.commands.Receive(t.Context(), files.Transfer{
		User: c.User, Room: room, File: f.ID, Content: strings.NewReader(content), More: func() {},
	})
	noError(t, err)
	return state.File
}

// refused calls a command that must be answered with this error.
func refused(t *testing.T, s *testServer, c api.Caller, method string, request any, want wire.Code) {
	t.Helper()
	_, err := s.Call(context.Background(), c, method, encoded(t, request))
	if got := s.errors.Failure(err); err == nil || got.Code != want {
		t.Errorf("%s: %v, want %v", method, err, want.Word())
	}
}

// call runs a command that must succeed, and decodes its reply. Unknown fields in the reply fail the test.
func call[Reply any](t *testing.T, s *testServer, c api.Caller, method string, request any) (reply Reply) {
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

// refused runs a command that must fail, and returns its error as a client receives it.
func (s *testServer) refused(t *testing.T, c api.Caller, method string, data []byte) wire.Error {
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
	return s.errors.Failure(err)
}

func (s *testServer) admin(t *testing.T, method string, request any) []byte {
	t.Helper()
	reply, err := s.callAdmin(context.Background(), api.Caller{Admin: true}, method, encoded(t, request))
	if err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	return reply
}

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	data, err := wire.Marshal(v)
	noError(t, err)
	return data
}

// mustBalance checks that the books agree and that no money was created or lost.
func (s *testServer) mustBalance(t *testing.T) {
	t.Helper()
	a, err := s.packets.Audit(context.Background())
	noError(t, err)
	if len(a.Differences) > 0 || a.Funded != a.InWallets+a.InPackets {
		t.Errorf("the audit differs: %+v", a)
	}
}

// dump returns the whole content of the database as text.
func (s *testServer) dump(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	for _, table := range s.rows(t, `select name from sqlite_master where type = 'table' order by name`) {
		fmt.Fprintf(&out, "%s: %s\n", table, strings.Join(s.rows(t, `select * from "`+table+`"`), "\n  "))
	}
	return out.String()
}

// rows returns each row of a query as one text.
func (s *testServer) rows(t *testing.T, query string) (all []string) {
	t.Helper()
	rows, err := s.db.Query(query)
	noError(t, err)
	defer rows.Close()
	columns, err := rows.Columns()
	noError(t, err)
	values, targets := make([]sql.NullString, len(columns)), make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	for rows.Next() {
		noError(t, rows.Scan(targets...))
		texts := make([]string, len(values))
		for i, v := range values {
			texts[i] = v.String
		}
		all = append(all, strings.Join(texts, " | "))
	}
	noError(t, rows.Err())
	return all
}

// noError fails the test at once if err is not nil.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
