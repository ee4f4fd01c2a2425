package console_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/hub"
	"hongbao/hub/hubtest"
	"hongbao/redpacket"
	"hongbao/store/eventlog"
	"hongbao/store/memstore"
	"hongbao/store/security"
	"hongbao/store/sqlitestore"
	"hongbao/store/storetest"
	"hongbao/store/trail"
	"hongbao/web"
	"hongbao/web/convert"
	"hongbao/web/host/console"
	"hongbao/web/host/events"
	"hongbao/web/host/hostapi"
	"hongbao/web/host/server"
	"hongbao/web/user/auth"
	"hongbao/web/user/push"
	"hongbao/web/wire"
)

// testConsole is a console over the server API of an embedded server.
type testConsole struct {
	*testing.T
	URL      string
	rooms    *chat.Service
	packets  *redpacket.Service
	store    *sqlitestore.Store
	keys     *server.Keys
	keysFile string
	handler  http.Handler

	mu      sync.Mutex
	elapsed time.Duration // guarded by mu; how far the console's clock is ahead
}

// migrated is a migrated database without rows. A copy takes less time than the migrations.
var migrated = storetest.NewFileTemplate(sqlitestore.FileName, func(dir string) error {
	store, err := sqlitestore.Open(context.Background(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	return store.Close()
})

// charts returns a day in which no instance ran for a while.
func charts(context.Context) (hostapi.ChartsReply, error) {
	day := hostapi.ChartsReply{From: time.Now().Add(-24 * time.Hour).UnixMilli(), StepS: 300}
	open, escrow := int64(3), int64(1234)
	for i := range 288 {
		if i > 100 && i < 120 {
			continue
		}
		day.Points = append(day.Points, hostapi.ChartPoint{
			At: day.From + int64(i)*300_000, Instances: 2, Sockets: int64(1000 + i), Delivered: 1, Won: int64(i), Missed: 5, GrabP99US: 2500, Open: &open, Escrow: &escrow,
		})
	}
	return day, nil
}

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

// Record implements server.Acts.
func (r recordedActs) Record(ctx context.Context, a server.Act) error {
	return r.Recorder.Record(ctx, security.Act{
		Actor: "key/" + a.Key, Person: a.Person, Client: a.Client, Method: a.Operation, Request: string(a.Request), RequestID: a.RequestID, Reason: a.Reason,
	})
}

// After implements server.Acts.
func (r recordedActs) After(ctx context.Context, cursor string, before time.Time, limit int) (acts []hostapi.Act, next string, err error) {
	stored, next, err := r.ActsAfter(ctx, cursor, before, limit)
	return convert.List(stored, actOf), next, err
}

// Before implements server.Acts.
func (r recordedActs) Before(ctx context.Context, cursor string, limit int) (acts []hostapi.Act, next string, err error) {
	stored, next, err := r.ActsBefore(ctx, cursor, limit)
	return convert.List(stored, actOf), next, err
}

func actOf(a security.Act) hostapi.Act {
	return hostapi.Act{ID: a.ID, At: convert.Millis(a.At), Actor: a.Actor, Person: a.Person, Client: a.Client, Operation: a.Method, Request: a.Request, Reason: a.Reason}
}

// newTestConsole starts a console. There is no key yet.
func newTestConsole(t *testing.T) *testConsole {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError}))
	store, err := sqlitestore.Open(t.Context(), migrated.Copy(t), log)
	noError(t, err)
	t.Cleanup(func() { noError(t, store.Close()) })
	repair := push.Repair{Store: store}
	h := hub.New(hub.Options{
		Encode: push.NewEncoder().Encode, Decode: push.Decode, Ping: push.Ping, Fetch: repair.Fetch, LastSeqs: repair.LastSeqs, Revise: push.Revise,
		Bus: hubtest.NewBroker().Endpoint(), Log: log,
	})
	pub := push.NewPublisher(h, chat.NewID(time.Now()))
	c := &testConsole{T: t, store: store, keysFile: filepath.Join(t.TempDir(), "keys")}
	presence := memstore.NewDirectory().Presence()
	c.rooms = chat.New(store, pub, chat.Options{Log: log, Presence: presence})
	c.packets = redpacket.New(store, memstore.NewPool(memstore.Options{}), c.rooms, pub, redpacket.Options{Log: log, GuessLimiter: memstore.NewLimiter(memstore.LimiterOptions{})})
	local := memstore.NewLimiter(memstore.LimiterOptions{})
	clients, err := web.New(h, pub, c.rooms, c.packets, web.Options{
		JWT: auth.JWT{Secret: []byte("a secret of thirty-two bytes, or more")}, Presence: presence, Log: log, Local: local, Alone: true,
	})
	noError(t, err)
	h.SetPeers(clients.Peers())
	pub.CacheStandings(c.rooms)
	noError(t, os.WriteFile(c.keysFile, []byte("# none\n"), 0o600))
	c.keys, err = server.ReadKeys(c.keysFile, log)
	noError(t, err)
	acts := recordedActs{security.NewRecorder(store, "i", 0, time.Now, log)}
	api, err := server.New(server.Config{Keys: c.keys, Acts: acts, Web: clients, Local: local, Trail: storedTrail{store}, Charts: charts, Chat: c.rooms, Packets: c.packets, Log: log, ActsAge: -time.Hour})
	noError(t, err)
	kinds, err := eventlog.ParseKinds([]string{"message.*"})
	noError(t, err)
	store.UseEvents(kinds)
	stream := events.New(events.Options{Store: store, Kinds: kinds, Instance: "i", Keep: time.Hour, Most: 1000, Log: log, Now: time.Now})
	noError(t, stream.Mount(api))
	made, err := console.New(console.Options{
		API: api.Handler(), Keys: c.keys, Acts: acts, Failure: clients.Failure, Local: memstore.NewLimiter(memstore.LimiterOptions{}),
		Secret: bytes.Repeat([]byte{7}, 32), Currency: wire.Currency{Code: "CNY", Exponent: 2}, Log: log, Now: c.now,
	})
	noError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = h.Run(ctx) })
	running.Go(func() { _ = c.packets.Run(ctx) })
	running.Go(func() { _ = clients.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	c.handler = made.Handler()
	site := httptest.NewServer(c.handler)
	t.Cleanup(site.Close)
	c.URL = site.URL
	return c
}

func (c *testConsole) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.elapsed)
}

// pass moves the console's clock.
func (c *testConsole) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.elapsed += d
}

// addKey adds a key, which is in use at once, and returns its secret.
func (c *testConsole) addKey(name string, scopes ...hostapi.Scope) string {
	c.Helper()
	secret, line, err := server.NewKey(name, scopes)
	noError(c, err)
	old, err := os.ReadFile(c.keysFile)
	noError(c, err)
	noError(c, os.WriteFile(c.keysFile, append(old, line+"\n"...), 0o600))
	c.keys.Reload()
	return secret
}

// removeKeys leaves no key.
func (c *testConsole) removeKeys() {
	c.Helper()
	noError(c, os.WriteFile(c.keysFile, []byte("# none\n"), 0o600))
	c.keys.Reload()
}

// browser sends requests as the page does, with the cookies that it was given.
type browser struct {
	*testConsole
	cookie string
	header http.Header
}

func (c *testConsole) browser() *browser {
	return &browser{testConsole: c, header: http.Header{"X-Console": {"page"}}}
}

// answer is a response.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// send sends a request, and keeps the cookie of the answer.
func (b *browser) send(verb, path string, body any) answer {
	b.Helper()
	text := []byte(nil)
	if body != nil {
		var err error
		text, err = json.Marshal(body)
		noError(b, err)
	}
	req, err := http.NewRequestWithContext(b.Context(), verb, b.URL+path, bytes.NewReader(text))
	noError(b, err)
	req.Header = b.header.Clone()
	if b.cookie != "" {
		req.AddCookie(&http.Cookie{Name: "hongbao_console", Value: b.cookie})
	}
	res, err := http.DefaultTransport.RoundTrip(req) // without following redirects
	noError(b, err)
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	noError(b, err)
	for _, given := range res.Cookies() {
		b.cookie = given.Value
	}
	return answer{res.StatusCode, res.Header, data}
}

// signIn signs in with a key, which must be valid.
func (b *browser) signIn(key string) answer {
	b.Helper()
	a := b.send("POST", "/console/session", map[string]string{"key": key, "person": "Mei"})
	if a.status != http.StatusOK || b.cookie == "" {
		b.Fatalf("sign-in: status %d: %s", a.status, a.body)
	}
	return a
}

// want fails the test unless the answer has this status and contains the text.
func (b *browser) want(a answer, status int, text string) {
	b.Helper()
	if a.status != status || !strings.Contains(string(a.body), text) {
		b.Errorf("status %d: %s; want %d with %q", a.status, a.body, status, text)
	}
}

// acts returns the stored acts, newest first.
func (c *testConsole) acts() []security.Act {
	c.Helper()
	acts, _, err := c.store.ActsBefore(c.Context(), "", 1000)
	noError(c, err)
	return acts
}

// act returns an act of the operation.
func (c *testConsole) act(operation string) security.Act {
	c.Helper()
	for _, a := range c.acts() {
		if a.Method == operation {
			return a
		}
	}
	c.Fatalf("no act %s is stored", operation)
	return security.Act{}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
