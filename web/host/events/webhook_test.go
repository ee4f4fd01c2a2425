package events_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/chat"
	"hongbao/hub/hubtest"
	"hongbao/store/eventlog"
	"hongbao/store/sqlitestore"
	"hongbao/store/storetest"
	"hongbao/web/host/events"
	"hongbao/web/host/hostapi"
)

const (
	firstSecret  = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz"
	secondSecret = "whsec_YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4"
)

// delivery is one request that the host has received.
type delivery struct {
	event  hostapi.Event
	header http.Header
	body   []byte
}

// testHook is a host that receives events, and a store with two rooms.
type testHook struct {
	*testing.T
	store *sqlitestore.Store
	url   string // of the host
	seq   int

	mu       sync.Mutex
	accepted []delivery
	answer   func(e hostapi.Event) int // guarded by mu; the status of an answer
	skew     time.Duration             // guarded by mu; how far the clock of the services is ahead
}

// migrated is a migrated database without rows. A copy takes less time than the migrations.
var migrated = storetest.NewFileTemplate(sqlitestore.FileName, func(dir string) error {
	store, err := sqlitestore.Open(context.Background(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	return store.Close()
})

func newTestHook(t *testing.T) *testHook {
	t.Helper()
	store, err := sqlitestore.Open(t.Context(), migrated.Copy(t), slog.New(slog.DiscardHandler))
	noError(t, err)
	h := &testHook{T: t, store: store, answer: func(hostapi.Event) int { return http.StatusNoContent }}
	kinds, err := eventlog.ParseKinds([]string{"message.*", "room.created"})
	noError(t, err)
	store.UseEvents(kinds)
	if hubtest.Bubbled() {
		h.url = "http://" + hubtest.ServeOnPipe(t, http.HandlerFunc(h.receive))
	} else {
		site := httptest.NewServer(http.HandlerFunc(h.receive))
		t.Cleanup(site.Close)
		h.url = site.URL
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, room := range []string{"good", "bad"} {
		_, _, err := store.CreateRoom(t.Context(), chat.NewRoom{
			ID: room, Name: room, Kind: chat.Public, Owner: chat.User{ID: "ann"}, Key: room, Hash: []byte("h"), At: time.Now(), MaxRooms: 9,
		})
		noError(t, err)
	}
	return h
}

func (h *testHook) receive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	d := delivery{header: r.Header, body: body}
	if err == nil {
		err = json.Unmarshal(body, &d.event)
	}
	if err != nil {
		h.Errorf("read a delivery: %v", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	status := h.answer(d.event)
	if status < 300 {
		h.accepted = append(h.accepted, d)
	}
	w.WriteHeader(status)
}

func (h *testHook) answers(answer func(e hostapi.Event) int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answer = answer
}

func (h *testHook) now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Now().Add(h.skew)
}

func (h *testHook) later(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.skew += d
}

// say appends n texts to the room.
func (h *testHook) say(room string, n int) {
	h.Helper()
	for range n {
		h.seq++
		id := fmt.Sprint("text-", h.seq)
		_, _, err := h.store.Append(h.Context(), chat.Draft{
			ID: id, Room: room, From: chat.User{ID: "ann"}, Kind: chat.KindText, Key: id, Hash: []byte("h"), Body: []byte(`{"text":"hello"}`), At: time.Now(),
		})
		if err != nil {
			h.Fatal(err)
		}
	}
}

// service returns a service that delivers to the host, and is not running.
func (h *testHook) service(instance string) *events.Service { return h.serviceOver(h.store, instance) }

// serviceOver is service over a store that watches the calls.
func (h *testHook) serviceOver(store events.Store, instance string) *events.Service {
	h.Helper()
	hook, err := events.NewWebhook(h.url+"/hook", []string{firstSecret, secondSecret}, []string{"127.0.0.1"}, time.Now)
	if err != nil {
		h.Fatal(err)
	}
	if hubtest.Bubbled() {
		transport := &http.Transport{DialContext: hubtest.DialPipe}
		h.Cleanup(transport.CloseIdleConnections)
		hook.SetClient(&http.Client{Transport: transport})
	}
	kinds, err := eventlog.ParseKinds([]string{"*"})
	if err != nil {
		h.Fatal(err)
	}
	return events.New(events.Options{
		Store: store, Kinds: kinds, Instance: instance, Keep: 1000 * time.Hour, Most: 1e6, Webhook: hook, Log: slog.New(slog.DiscardHandler), Now: h.now,
	})
}

// run runs the service until the returned function is called, or the test ends.
func (h *testHook) run(s *events.Service) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx) })
	stop = func() {
		cancel()
		running.Wait()
	}
	h.Cleanup(stop)
	return stop
}

// seqs returns the seqs of the messages that were accepted for the room, in order.
func (h *testHook) seqs(room string) (seqs []int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, d := range h.accepted {
		if d.event.Data.Room == room && d.event.Data.Entry != nil {
			seqs = append(seqs, d.event.Data.Entry.Seq)
		}
	}
	return seqs
}

// wait returns when n messages of the room were accepted, each once and in order.
func (h *testHook) wait(room string, n int) {
	h.Helper()
	var got []int64
	for until := time.Now().Add(time.Minute); time.Now().Before(until); <-time.After(5 * time.Millisecond) {
		if got = h.seqs(room); len(got) >= n {
			break
		}
	}
	for i, seq := range got {
		if seq != int64(i+1) {
			h.Fatalf("room %s: got the entries %v, want 1 to %d in order", room, got, n)
		}
	}
	if len(got) != n {
		h.Fatalf("room %s: got %d entries, want %d", room, len(got), n)
	}
}

// held returns how many events are held.
func (h *testHook) held() int {
	h.Helper()
	_, n, err := h.store.HeldKeys(h.Context(), events.WebhookConsumer)
	if err != nil {
		h.Fatal(err)
	}
	return n
}

func TestWebhookDeliversInOrderAndSigned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTestHook(t)
		h.say("good", 150)
		h.say("bad", 30)
		h.run(h.service("one"))
		h.wait("good", 150)
		h.wait("bad", 30)
		h.mu.Lock()
		defer h.mu.Unlock()
		ids := map[string]bool{}
		for _, d := range h.accepted {
			id, at := d.header.Get("Webhook-Id"), d.header.Get("Webhook-Timestamp")
			seconds, err := strconv.ParseInt(at, 10, 64)
			if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > time.Minute || ids[id] || id != d.event.ID {
				t.Fatalf("id %q, timestamp %q of event %+v", id, at, d.event)
			}
			ids[id] = true
			var want []string
			for _, secret := range []string{firstSecret, secondSecret} {
				key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
				mac := hmac.New(sha256.New, key)
				_, _ = fmt.Fprintf(mac, "%s.%s.%s", id, at, d.body)
				want = append(want, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
			}
			if got := d.header.Get("Webhook-Signature"); got != strings.Join(want, " ") {
				t.Fatalf("signature %q, want %q", got, want)
			}
		}
	})
}

func TestRefusedEventHoldsBackOnlyItsRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTestHook(t)
		h.answers(func(e hostapi.Event) int {
			if e.Data.Room == "bad" && e.Data.Entry != nil && e.Data.Entry.Seq >= 3 {
				return http.StatusUnprocessableEntity
			}
			return http.StatusOK
		})
		h.say("bad", 5)
		h.say("good", 20)
		one := h.service("one")
		h.run(one)
		h.wait("good", 20)
		h.wait("bad", 2)
		h.say("bad", 2)
		h.say("good", 20)
		h.wait("good", 40)
		for h.held() < 5 { // entries 3 to 7; the position is stored after the deliveries
			time.Sleep(5 * time.Millisecond)
		}
		h.answers(func(hostapi.Event) int { return http.StatusOK })
		h.later(time.Hour)
		h.wait("bad", 7)
		for h.held() > 0 {
			time.Sleep(5 * time.Millisecond)
		}
		if d := one.Deliveries(); d["accepted"] < 47 || d["refused"] < 1 || d["failed"] != 0 {
			t.Errorf("deliveries: %v, want at least 47 accepted and 1 refused", d)
		}
	})
}

func TestDeadHostStoresNothingAndMissesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTestHook(t)
		refused := make(chan struct{}, 1000)
		h.answers(func(hostapi.Event) int {
			select {
			case refused <- struct{}{}:
			default:
			}
			return http.StatusBadGateway
		})
		h.say("good", 30)
		h.say("bad", 30)
		h.run(h.service("one"))
		for range 8 { // at least two rounds
			<-refused
		}
		if n := h.held(); n > 0 {
			t.Errorf("%d events are held while the host is dead", n)
		}
		h.answers(func(hostapi.Event) int { return http.StatusOK })
		h.wait("good", 30)
		h.wait("bad", 30)
	})
}

func TestEventIsParkedAfterThreeDays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTestHook(t)
		h.answers(func(e hostapi.Event) int {
			if e.Data.Room == "bad" && e.Data.Entry != nil && e.Data.Entry.Seq == 1 {
				return http.StatusBadRequest
			}
			return http.StatusOK
		})
		h.say("bad", 3)
		h.say("good", 1)
		h.run(h.service("one"))
		h.wait("good", 1)
		for h.held() < 3 {
			time.Sleep(5 * time.Millisecond)
		}
		h.later(73 * time.Hour)
		var parked []eventlog.Hold
		for until := time.Now().Add(time.Minute); len(parked) == 0 && time.Now().Before(until); <-time.After(5 * time.Millisecond) {
			var err error
			if parked, err = h.store.ParkedHolds(t.Context(), events.WebhookConsumer, 0, 10); err != nil {
				t.Fatal(err)
			}
		}
		if len(parked) != 1 || parked[0].Tries < 2 || !strings.Contains(parked[0].Why, "400") {
			t.Fatalf("parked %+v, want one after two tries", parked)
		}
		for len(h.seqs("bad")) < 2 { // 2 and 3 are no longer held back
			time.Sleep(5 * time.Millisecond)
		}
		h.answers(func(hostapi.Event) int { return http.StatusOK })
		again := parked[0]
		again.Parked, again.FirstAt, again.NextAt, again.Tries = false, h.now(), h.now(), 0
		noError(t, h.store.PutHold(t.Context(), events.WebhookConsumer, again))
		for len(h.seqs("bad")) < 3 {
			time.Sleep(5 * time.Millisecond)
		}
		if got := fmt.Sprint(h.seqs("bad")); got != "[2 3 1]" {
			t.Errorf("entries %s, want the parked one last", got)
		}
	})
}

// TestAnotherInstanceTakesOver stops an instance. Another one must deliver, at the latest when the lease has ended.
func TestAnotherInstanceTakesOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTestHook(t)
		stop := h.run(h.service("one"))
		h.say("good", 5)
		h.wait("good", 5)
		h.run(h.service("two"))
		h.say("good", 5)
		h.wait("good", 10)
		if _, err := h.store.Lease(t.Context(), events.WebhookConsumer, "two", time.Second, time.Now()); !errors.Is(err, eventlog.ErrLease) {
			t.Fatalf("the second instance could take the lease of the first: %v", err)
		}
		stop()
		began := time.Now()
		h.say("good", 1)
		h.wait("good", 11)
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("the takeover took %s, want at most 20 s", took)
		}
	})
}

func TestWebhookReachesOnlyPublicAddresses(t *testing.T) {
	h := newTestHook(t)
	_, port, _ := strings.Cut(strings.TrimPrefix(h.url, "http://"), ":")
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "10.1.2.3", "169.254.169.254", "[fe80::1]", "[fd00::1]", "[::ffff:127.0.0.1]", "100.64.0.1", "0.0.0.0", "[64:ff9b::7f00:1]", "2130706433"} {
		hook, err := events.NewWebhook("https://"+host+":"+port+"/", []string{firstSecret}, []string{"other.example.com"}, time.Now)
		if err != nil {
			t.Fatalf("%s: %v", host, err)
		}
		err = events.Send(t.Context(), hook, eventlog.Event{ID: "e", Kind: "room.created", At: time.Now()})
		asked := host == "2130706433" // the machine's DNS server was asked for this name, which may answer anything
		if err == nil || !asked && !strings.Contains(err.Error(), "is not public") {
			t.Errorf("https://%s: %v, want a refusal of the address", host, err)
		}
	}
	for target, secrets := range map[string][]string{
		"http://example.com/": {firstSecret}, "ftp://example.com/": {firstSecret}, "https://u:p@example.com/": {firstSecret}, "https:///x": {firstSecret},
		"https://example.com/a": {"whsec_c2hvcnQ="}, "https://example.com/b": {}, "https://example.com/c": {"secret"},
	} {
		if _, err := events.NewWebhook(target, secrets, nil, time.Now); err == nil {
			t.Errorf("webhook %s with secrets %q is accepted", target, secrets)
		}
	}
}

func TestWebhookFollowsNoRedirect(t *testing.T) {
	h := newTestHook(t)
	target := httptest.NewServer(http.RedirectHandler(h.url, http.StatusTemporaryRedirect))
	t.Cleanup(target.Close)
	hook, err := events.NewWebhook(target.URL, []string{firstSecret}, []string{"127.0.0.1"}, time.Now)
	noError(t, err)
	err = events.Send(t.Context(), hook, eventlog.Event{ID: "e", Kind: "room.created", At: time.Now()})
	if err == nil || !strings.Contains(err.Error(), "307") || len(h.accepted) > 0 {
		t.Errorf("%v, and %d deliveries behind the redirect", err, len(h.accepted))
	}
}

// noError fails the test at once if err is not nil.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
