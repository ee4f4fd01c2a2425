package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
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
	"hongbao/store/eventlog"
	"hongbao/store/memstore"
	"hongbao/store/objects"
	"hongbao/store/security"
	"hongbao/store/sqlitestore"
	"hongbao/store/storetest"
	"hongbao/store/trail"
	"hongbao/web"
	"hongbao/web/convert"
	"hongbao/web/host/events"
	"hongbao/web/host/hostapi"
	"hongbao/web/host/server"
	"hongbao/web/user/auth"
	"hongbao/web/user/push"
	"hongbao/web/user/webpush"
	"hongbao/web/wire"
)

// testHost is a server with the embedded stores, and keys of a host. Its books must balance at the end of the test.
type testHost struct {
	*testing.T
	api, clients testSite
	http         *http.Client // sends the requests of the test
	web          *web.Server
	rooms        *chat.Service
	packets      *redpacket.Service
	files        *files.Service
	store        *sqlitestore.Store
	recorder     *security.Recorder
	trail        *trail.Recorder
	keysFile     string
	keys         *server.Keys
	all          string // a key with the scope admin
	folder       string // of the database; files are below it
	logged       *bytes.Buffer
	ahead        atomic.Int64 // nanoseconds by which the clock of rooms and files is ahead
}

// testSite is where a handler is served.
type testSite struct{ URL string }

// serve serves the handler until the test ends: over TCP, in a bubble of package synctest over pipes in memory.
func serve(t *testing.T, h http.Handler) testSite {
	t.Helper()
	if hubtest.Bubbled() {
		return testSite{"http://" + hubtest.ServeOnPipe(t, h)}
	}
	site := httptest.NewServer(h)
	t.Cleanup(site.Close)
	return testSite{site.URL}
}

// migrated is a migrated database without rows. A copy takes less time than the migrations.
var migrated = storetest.NewFileTemplate(sqlitestore.FileName, func(dir string) error {
	store, err := sqlitestore.Open(context.Background(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	return store.Close()
})

var testSecret = []byte("a secret of thirty-two bytes, or more")

// storedTrail is the adapter of the program.
type storedTrail struct{ trail.Store }

// RefusalsOf implements server.Trail.
func (s storedTrail) RefusalsOf(ctx context.Context, user, after string, limit int) (found []hostapi.Refusal, next string, err error) {
	refusals, next, err := s.Store.RefusalsOf(ctx, user, after, limit)
	return convert.List(refusals, refusalOf), next, err
}

// RefusalsAt implements server.Trail.
func (s storedTrail) RefusalsAt(ctx context.Context, packet, after string, limit int) (found []hostapi.Refusal, next string, err error) {
	refusals, next, err := s.Store.RefusalsAt(ctx, packet, after, limit)
	return convert.List(refusals, refusalOf), next, err
}

// SocketsOf implements server.Trail.
func (s storedTrail) SocketsOf(ctx context.Context, user, after string, limit int) (found []hostapi.SocketEvent, next string, err error) {
	events, next, err := s.Store.SocketsOf(ctx, user, after, limit)
	return convert.List(events, socketOf), next, err
}

func refusalOf(r trail.Refusal) hostapi.Refusal {
	return hostapi.Refusal{User: r.User, Packet: r.Packet, At: convert.Millis(r.At), Why: r.Why}
}

func socketOf(e trail.SocketEvent) hostapi.SocketEvent {
	return hostapi.SocketEvent{Socket: e.Socket, At: convert.Millis(e.At), What: e.What, Code: e.Code}
}

// recordedActs is the adapter of the program.
type recordedActs struct{ *security.Recorder }

func (r recordedActs) Record(ctx context.Context, a server.Act) error {
	return r.Recorder.Record(ctx, security.Act{
		Actor: "key/" + a.Key, Person: a.Person, Client: a.Client, Method: a.Operation, Request: string(a.Request), RequestID: a.RequestID, Reason: a.Reason,
	})
}

func newTestHost(t *testing.T) *testHost {
	t.Helper()
	return newTestHostWith(t, "message.*", "transfer.*")
}

// newTestHostWith is newTestHost with other kinds of events.
func newTestHostWith(t *testing.T, kinds ...string) *testHost {
	t.Helper()
	host := &testHost{T: t, folder: migrated.Copy(t), logged: &bytes.Buffer{}}
	log := slog.New(slog.NewMultiHandler(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError}), slog.NewTextHandler(host.logged, &slog.HandlerOptions{Level: slog.LevelDebug})))
	store, err := sqlitestore.Open(t.Context(), host.folder, log)
	noError(t, err)
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	repair := push.Repair{Store: store}
	broker, directory := hubtest.NewBroker(), memstore.NewDirectory()
	h := hub.New(hub.Options{
		Encode: push.NewEncoder().Encode, Decode: push.Decode, Ping: push.Ping, Fetch: repair.Fetch, LastSeqs: repair.LastSeqs, Revise: push.Revise,
		Bus: broker.Endpoint(), Log: log,
	})
	pub := push.NewPublisher(h, chat.NewID(time.Now()))
	presence := directory.Presence()
	host.store = store
	host.rooms = chat.New(store, pub, chat.Options{Log: log, Now: host.now, Presence: presence, Indexer: chat.NewIndexer(store, pub, log)})
	host.packets = redpacket.New(store, memstore.NewPool(memstore.Options{}), host.rooms, pub, redpacket.Options{
		DayLimits: redpacket.DayLimits{
			Sent: redpacket.Limit{On: true, Usual: 50_000}, Received: redpacket.Limit{On: true, Usual: redpacket.NoLimit},
			Packets: redpacket.Limit{On: true, Usual: redpacket.NoLimit},
		},
		Log: log, GuessLimiter: memstore.NewLimiter(memstore.LimiterOptions{}),
	})
	local := memstore.NewLimiter(memstore.LimiterOptions{})
	keys, err := webpush.NewKeys()
	noError(t, err)
	folder, err := objects.OpenFolder(filepath.Join(host.folder, "files"))
	noError(t, err)
	host.files = files.New(store, folder, host.rooms, files.Options{Limits: files.Limits{Bytes: 1 << 20}, Key: testSecret, Log: log, Now: host.now})
	host.trail = trail.NewRecorder(store, time.Now, log)
	host.web, err = web.New(h, pub, host.rooms, host.packets, web.Options{
		JWT: auth.JWT{Secret: testSecret}, Presence: presence, Log: log, Rates: true, Local: local, Alone: true, Files: host.files, Trail: host.trail, Push: webpush.New(pub, webpush.Options{Keys: keys}),
	})
	noError(t, err)
	h.SetPeers(host.web.Peers())
	pub.CacheStandings(host.rooms)
	host.recorder = security.NewRecorder(store, "i", 0, time.Now, log)
	host.keysFile = filepath.Join(t.TempDir(), "keys")
	host.all = host.addKey("all", " 1000000", hostapi.Admin) // a test sends more requests than a key usually may, in a second
	host.keys, err = server.ReadKeys(host.keysFile, log)
	noError(t, err)
	api, err := server.New(server.Config{Keys: host.keys, Acts: recordedActs{host.recorder}, Web: host.web, Local: local, Charts: func(context.Context) (hostapi.ChartsReply, error) {
		return hostapi.ChartsReply{StepS: 300, Points: []hostapi.ChartPoint{}}, nil
	}, Trail: storedTrail{store}, Chat: host.rooms, Packets: host.packets, Files: host.files, Log: log, ActsAge: -time.Hour})
	noError(t, err)
	written, err := eventlog.ParseKinds(kinds)
	noError(t, err)
	store.UseEvents(written)
	if err := events.New(events.Options{
		Store: store, Kinds: written, Instance: "i", Keep: time.Hour, Most: 1000, Log: log, Now: time.Now,
	}).Mount(api); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = h.Run(ctx) })
	running.Go(func() { _ = host.packets.Run(ctx) })
	running.Go(func() { host.trail.Run(ctx) })
	running.Go(func() { _ = host.web.Run(ctx) })
	t.Cleanup(func() {
		a, err := host.packets.Audit(context.Background())
		if err != nil || len(a.Differences) > 0 || a.Funded != a.InWallets+a.InPackets {
			t.Errorf("the audit differs: %+v, %v", a, err)
		}
		cancel()
		running.Wait()
	})
	host.api, host.clients, host.http = serve(t, api.Handler()), serve(t, host.web.Handler()), http.DefaultClient
	if hubtest.Bubbled() {
		transport := &http.Transport{DialContext: hubtest.DialPipe}
		t.Cleanup(transport.CloseIdleConnections)
		host.http = &http.Client{Transport: transport}
	}
	return host
}

func (h *testHost) now() time.Time { return time.Now().Add(time.Duration(h.ahead.Load())) }

// addKey adds a key to the keys file, and returns its secret. rate is the end of its line.
func (h *testHost) addKey(name, rate string, scopes ...hostapi.Scope) string {
	h.Helper()
	secret, line, err := server.NewKey(name, scopes)
	if err != nil {
		h.Fatal(err)
	}
	old, err := os.ReadFile(h.keysFile)
	if err != nil && !os.IsNotExist(err) {
		h.Fatal(err)
	}
	if err := os.WriteFile(h.keysFile, append(old, line+rate+"\n"...), 0o600); err != nil {
		h.Fatal(err)
	}
	return secret
}

// newKey is addKey for a server that runs: it waits for nothing, because the file is read at once.
func (h *testHost) newKey(name string, scopes ...hostapi.Scope) string {
	h.Helper()
	secret := h.addKey(name, "", scopes...)
	h.keys.Reload()
	return secret
}

// newLimitedKey is newKey for a key with its own number of requests a second.
func (h *testHost) newLimitedKey(name string, rate int, scopes ...hostapi.Scope) string {
	h.Helper()
	secret := h.addKey(name, fmt.Sprint(" ", rate), scopes...)
	h.keys.Reload()
	return secret
}

// answer is what the server API has answered.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// send sends a request with a key. Each header is a pair of name and value.
func (h *testHost) send(key, verb, path string, body any, headers ...string) answer {
	h.Helper()
	var text []byte
	switch body := body.(type) {
	case nil:
	case string:
		text = []byte(body)
	default:
		var err error
		if text, err = json.Marshal(body); err != nil {
			h.Fatal(err)
		}
	}
	req, err := http.NewRequestWithContext(h.Context(), verb, h.api.URL+path, bytes.NewReader(text))
	if err != nil {
		h.Fatal(err)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	res, err := h.http.Do(req)
	if err != nil {
		h.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		h.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, data}
}

// ok decodes a reply into the type, and fails the test if it is an error.
func ok[Reply any](h *testHost, a answer) (reply Reply) {
	h.Helper()
	if a.status != http.StatusOK {
		h.Fatalf("status %d: %s", a.status, a.body)
	}
	decoder := json.NewDecoder(bytes.NewReader(a.body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&reply); err != nil {
		h.Fatalf("%v in %s", err, a.body)
	}
	if strings.Contains(string(a.body), "null") {
		h.Errorf("null in %s", a.body)
	}
	return reply
}

// refused fails the test unless the answer is an error with this code and text.
func (h *testHost) refused(a answer, code wire.Code, message string) {
	h.Helper()
	var body wire.ErrorBody
	if err := json.Unmarshal(a.body, &body); err != nil || a.status != code.Status() || body.Error.Code != code || !strings.HasPrefix(body.Error.Message, message) {
		h.Errorf("status %d: %s; want %d with code %d %q", a.status, a.body, code.Status(), code, message)
	}
}

// known creates users, as their tokens would.
func (h *testHost) known(users ...string) {
	h.Helper()
	for _, u := range users {
		if err := h.rooms.SignIn(h.Context(), chat.User{ID: u, Name: "Name of " + u}); err != nil {
			h.Fatal(err)
		}
	}
}

// acts returns the stored acts, newest first.
func (h *testHost) acts() []security.Act {
	h.Helper()
	acts, _, err := h.store.ActsBefore(h.Context(), "", 1000)
	if err != nil {
		h.Fatal(err)
	}
	return acts
}

// act returns the newest act of an operation. Of several in one millisecond it returns any.
func (h *testHost) act(operation string) security.Act {
	h.Helper()
	for _, act := range h.acts() {
		if act.Method == operation {
			return act
		}
	}
	h.Fatalf("no act %s is stored", operation)
	return security.Act{}
}

// After implements server.Acts.
func (r recordedActs) After(ctx context.Context, cursor string, before time.Time, limit int) (acts []hostapi.Act, next string, err error) {
	stored, next, err := r.Recorder.ActsAfter(ctx, cursor, before, limit)
	return convert.List(stored, actOf), next, err
}

// Before implements server.Acts.
func (r recordedActs) Before(ctx context.Context, cursor string, limit int) (acts []hostapi.Act, next string, err error) {
	stored, next, err := r.Recorder.ActsBefore(ctx, cursor, limit)
	return convert.List(stored, actOf), next, err
}

func actOf(a security.Act) hostapi.Act {
	return hostapi.Act{
		ID: a.ID, At: convert.Millis(a.At), Instance: a.Instance, Actor: a.Actor, Person: a.Person, Client: a.Client, Operation: a.Method, Request: a.Request,
		RequestID: a.RequestID, Reason: a.Reason,
	}
}

// noError fails the test at once if err is not nil.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
