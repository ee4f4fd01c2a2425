package hook_test

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
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/web/host/hook"
	"hongbao/web/user/api"
	"hongbao/web/wire"
)

const (
	firstSecret  = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz"
	secondSecret = "whsec_YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4"
)

// testHost answers questions. Its answer may block.
type testHost struct {
	site   *httptest.Server
	asked  atomic.Int64
	answer atomic.Pointer[func(w http.ResponseWriter, r *http.Request, body []byte)]
}

func newTestHost(t *testing.T) *testHost {
	t.Helper()
	h := &testHost{}
	h.says(`{"allow":true}`)
	h.site = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.asked.Add(1)
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("read a question: %v", err)
		}
		(*h.answer.Load())(w, r, body)
	}))
	t.Cleanup(h.site.Close)
	return h
}

func (h *testHost) does(answer func(w http.ResponseWriter, r *http.Request, body []byte)) {
	h.answer.Store(&answer)
}

func (h *testHost) says(text string) {
	h.does(func(w http.ResponseWriter, _ *http.Request, _ []byte) { _, _ = io.WriteString(w, text) })
}

func (h *testHost) hooks(t *testing.T, change ...func(*hook.Options)) *hook.Hooks {
	t.Helper()
	o := hook.Options{
		URL: h.site.URL, Secrets: []string{firstSecret, secondSecret}, Allowed: []string{"127.0.0.1"}, Timeout: time.Minute,
		Commands: []string{"send", "send_packet", "grab"}, Open: []string{"send"}, Log: slog.New(slog.DiscardHandler),
	}
	for _, f := range change {
		f(&o)
	}
	hooks, err := hook.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return hooks
}

func question(command string) api.Question {
	return api.Question{Command: command, User: chat.User{ID: "ann", Name: "Ann"}, Room: "r1", Request: wire.SendRequest{Room: "r1", Key: "k", Text: "<hi>"}}
}

// count returns how many questions about the command ended so.
func count(hooks *hook.Hooks, command string, outcome hook.Outcome) uint64 {
	for _, s := range hooks.Stats() {
		if s.Command == command {
			return s.Took[string(outcome)].Count
		}
	}
	return 0
}

// TestQuestionIsSigned verifies a question as a host would: by the text of Standard Webhooks, without code of the server.
func TestQuestionIsSigned(t *testing.T) {
	host := newTestHost(t)
	var header http.Header
	var body string
	host.does(func(w http.ResponseWriter, r *http.Request, b []byte) {
		header, body = r.Header, string(b)
		_, _ = io.WriteString(w, `{"allow":true}`)
	})
	at := time.Date(2026, 11, 25, 1, 2, 3, 0, time.UTC)
	hooks := host.hooks(t, func(o *hook.Options) { o.Now = func() time.Time { return at } })
	q := question("send")
	q.ID = "q1"
	if v, err := hooks.Ask(t.Context(), q); err != nil || v != (api.Verdict{}) {
		t.Fatalf("%+v, %v", v, err)
	}
	if want := `{"id":"q1","type":"send","timestamp":"2026-11-25T01:02:03Z","data":{"user":{"id":"ann","name":"Ann"},"room":"r1","request":{"room":"r1","key":"k","text":"<hi>"}}}`; body != want {
		t.Errorf("asked %s\nwant  %s", body, want)
	}
	if header.Get("Webhook-Id") != "q1" || header.Get("Webhook-Timestamp") != "1795568523" {
		t.Errorf("headers %v", header)
	}
	signatures := strings.Fields(header.Get("Webhook-Signature"))
	for i, secret := range []string{firstSecret, secondSecret} {
		key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		mac := hmac.New(sha256.New, key)
		_, _ = fmt.Fprintf(mac, "q1.1795568523.%s", body)
		if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); len(signatures) != 2 || signatures[i] != want {
			t.Errorf("signatures %v, want %s at %d", signatures, want, i)
		}
	}
}

func TestVerdicts(t *testing.T) {
	host := newTestHost(t)
	hooks := host.hooks(t)
	short := func(text string) error {
		if len(text) > 5 {
			return errors.New("too long")
		}
		return nil
	}
	for _, c := range []struct {
		command, answer string
		fund            bool
		want            hook.Outcome
	}{
		{"grab", `{"allow":true}`, false, hook.Allowed},
		{"grab", `{"allow":false}`, false, hook.Denied},
		{"grab", `{"allow":false,"reason":"请稍等","data":{"captcha": "c1"}}`, false, hook.Denied},
		{"grab", `{"allow":false,"data":null}`, false, hook.Denied},
		{"send_packet", `{"allow":true,"text":"***"}`, false, hook.Replaced},
		{"send_packet", `{"allow":true,"text":""}`, false, hook.Replaced},
		{"send_packet", `{"allow":true,"fund":{"amount":100,"key":"d1"}}`, true, hook.Funded},
		{"send_packet", `{"allow":true,"fund":{"amount":1,"key":"d1"},"text":"ok"}`, true, hook.Funded},

		{"grab", ``, false, hook.Invalid},
		{"grab", `{}`, false, hook.Invalid},
		{"grab", `null`, false, hook.Invalid},
		{"grab", `{"alow":true}`, false, hook.Invalid},
		{"grab", `{"allow":"true"}`, false, hook.Invalid},
		{"grab", `{"allow":true}{"allow":false}`, false, hook.Invalid},
		{"grab", `{"allow":true,"reason":"why"}`, false, hook.Invalid},
		{"grab", `{"allow":false,"text":"x"}`, false, hook.Invalid},
		{"grab", `{"allow":true,"text":"x"}`, false, hook.Invalid},
		{"grab", `{"allow":false,"reason":"` + strings.Repeat("字", 201) + `"}`, false, hook.Invalid},
		{"grab", `{"allow":false,"reason":"\u0000"}`, false, hook.Invalid},
		{"grab", `{"allow":false,"data":"` + strings.Repeat("x", 2047) + `"}`, false, hook.Invalid},
		{"grab", `{"allow":true` + strings.Repeat(" ", 33<<10) + `}`, false, hook.Invalid},
		{"send_packet", `{"allow":true,"text":"too long"}`, false, hook.Invalid},
		{"send_packet", `{"allow":true,"fund":{"amount":100,"key":"d1"}}`, false, hook.Invalid},
		{"send_packet", `{"allow":true,"fund":{"amount":101,"key":"d1"}}`, true, hook.Invalid},
		{"send_packet", `{"allow":true,"fund":{"amount":0,"key":"d1"}}`, true, hook.Invalid},
		{"send_packet", `{"allow":true,"fund":{"amount":-1,"key":"d1"}}`, true, hook.Invalid},
		{"send_packet", `{"allow":true,"fund":{"amount":1.5,"key":"d1"}}`, true, hook.Invalid},
		{"send_packet", `{"allow":true,"fund":{"amount":5,"key":"a b"}}`, true, hook.Invalid},
		{"send_packet", `{"allow":true,"fund":{"amount":5}}`, true, hook.Invalid},
		{"send_packet", `{"allow":false,"fund":{"amount":5,"key":"d1"}}`, true, hook.Invalid},
	} {
		host.says(c.answer)
		q := question(c.command)
		if c.command == "send_packet" {
			q.CheckText = short
		}
		if c.fund {
			q.MaxFund = 100
		}
		before := count(hooks, c.command, c.want)
		v, err := hooks.Ask(t.Context(), q)
		if count(hooks, c.command, c.want) != before+1 {
			t.Errorf("%.80s about %s: %+v, %v, not counted as %s", c.answer, c.command, v, err, c.want)
		}
		denied := new(api.DeniedError)
		switch c.want {
		case hook.Denied:
			if !errors.As(err, &denied) || strings.Contains(c.answer, "captcha") && (denied.Reason != "请稍等" || string(denied.Data) != `{"captcha":"c1"}`) {
				t.Errorf("%s: %v", c.answer, err)
			}
		case hook.Invalid:
			if !errors.Is(err, chat.ErrUnavailable) || !v.None || v.NotAsked {
				t.Errorf("%.80s: %+v, %v, want no verdict", c.answer, v, err)
			}
		default:
			if err != nil || (v.Text != nil) != strings.Contains(c.answer, "text") || (v.Fund.Amount > 0) != c.fund {
				t.Errorf("%s: %+v, %v", c.answer, v, err)
			}
		}
	}
}

// TestPreviewsOfTheHost answers with previews. One that breaks a rule must be left out and counted, and the rest of the answer must count.
func TestPreviewsOfTheHost(t *testing.T) {
	host := newTestHost(t)
	hooks := host.hooks(t)
	leftOut := int64(0)
	for _, c := range []struct {
		answer string
		want   hook.Outcome
		title  string // of the preview; "": there is none
	}{
		{`{"allow":true,"preview":{"url":"https://a.example","title":"A"}}`, hook.Allowed, "A"},
		{`{"allow":true,"preview":{"url":"https://b.example","title":"B","text":"more"},"text":"https://b.example"}`, hook.Replaced, "B"},
		{`{"allow":true,"preview":null}`, hook.Allowed, ""},

		{`{"allow":true,"preview":{"url":"https://a.example","title":"A"},"text":"https://b.example"}`, hook.Replaced, "left out"},
		{`{"allow":true,"preview":{"url":"https://a.example"}}`, hook.Allowed, "left out"},
		{`{"allow":true,"preview":{}}`, hook.Allowed, "left out"},
		{`{"allow":true,"preview":"https://a.example"}`, hook.Allowed, "left out"},
		{`{"allow":true,"preview":{"url":"https://a.example","title":"A","image":"https://a.example/a.png"}}`, hook.Allowed, "left out"},
		{`{"allow":true,"preview":{"url":"https://a.example","title":7}}`, hook.Allowed, "left out"},

		{`{"allow":false,"preview":{"url":"https://a.example","title":"A"}}`, hook.Invalid, ""},
	} {
		host.says(c.answer)
		q := question("send")
		q.CheckText = func(string) error { return nil }
		q.CheckPreview = func(p chat.Preview, replaced *string) error {
			text := "https://a.example"
			if replaced != nil {
				text = *replaced
			}
			return p.Check(text)
		}
		before := count(hooks, "send", c.want)
		v, err := hooks.Ask(t.Context(), q)
		if count(hooks, "send", c.want) != before+1 || err != nil {
			t.Errorf("%s: %+v, %v, not counted as %s", c.answer, v, err, c.want)
		}
		if c.title == "left out" {
			leftOut, c.title = leftOut+1, ""
		}
		if c.title == "" && v.Preview != nil || c.title != "" && (v.Preview == nil || v.Preview.Title != c.title) {
			t.Errorf("%s: preview %+v, want %q", c.answer, v.Preview, c.title)
		}
		if c.want == hook.Replaced && v.Text == nil {
			t.Errorf("%s: the text is not replaced", c.answer)
		}
		for _, s := range hooks.Stats() {
			if s.Command == "send" && s.PreviewsLeftOut != leftOut {
				t.Errorf("%s: %d previews are counted as left out, want %d", c.answer, s.PreviewsLeftOut, leftOut)
			}
		}
	}
	host.says(`{"allow":true,"preview":{"url":"https://a.example","title":"A"}}`)
	if v, err := hooks.Ask(t.Context(), question("grab")); !errors.Is(err, chat.ErrUnavailable) || v.Preview != nil {
		t.Errorf("a preview of a grab: %+v, %v", v, err)
	}
}

// TestFailuresByMode lets the host fail. A command whose hook is open is carried out, any other one is refused for now.
func TestFailuresByMode(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(w http.ResponseWriter, r *http.Request, body []byte)
		want   hook.Outcome
	}{
		"status": {func(w http.ResponseWriter, _ *http.Request, _ []byte) { w.WriteHeader(http.StatusInternalServerError) }, hook.Failed},
		"no content, although that is a success elsewhere": {func(w http.ResponseWriter, _ *http.Request, _ []byte) { w.WriteHeader(http.StatusNoContent) }, hook.Failed},
		"redirect": {func(w http.ResponseWriter, r *http.Request, _ []byte) {
			http.Redirect(w, r, "http://"+r.Host+"/other", http.StatusTemporaryRedirect)
		}, hook.Failed},
		"cut":  {func(http.ResponseWriter, *http.Request, []byte) { panic(http.ErrAbortHandler) }, hook.Failed},
		"slow": {func(_ http.ResponseWriter, r *http.Request, _ []byte) { <-r.Context().Done() }, hook.TimedOut},
		"slow in the midst of the answer": {func(w http.ResponseWriter, r *http.Request, _ []byte) {
			_, _ = io.WriteString(w, `{"allow":`)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, hook.TimedOut},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := newTestHost(t)
			host.does(c.answer)
			hooks := host.hooks(t, func(o *hook.Options) {
				if c.want == hook.TimedOut {
					o.Timeout = 200 * time.Millisecond
				}
			})
			began := time.Now()
			if v, err := hooks.Ask(t.Context(), question("send")); err != nil || !v.None || v.NotAsked {
				t.Errorf("open: %+v, %v", v, err)
			}
			if v, err := hooks.Ask(t.Context(), question("grab")); !errors.Is(err, chat.ErrUnavailable) || !v.None || v.NotAsked {
				t.Errorf("closed: %+v, %v", v, err)
			}
			if took := time.Since(began); c.want == hook.TimedOut && took < 400*time.Millisecond {
				t.Errorf("two questions took %s, want at least 400 ms", took)
			}
			asked := host.asked.Load() // on a busy machine, a question may time out before the host has it
			if count(hooks, "send", c.want) != 1 || count(hooks, "grab", c.want) != 1 || asked > 2 || asked < 2 && c.want != hook.TimedOut {
				t.Errorf("asked %d times, counted %+v", asked, hooks.Stats())
			}
		})
	}
}

// TestBreaker lets the host fail until the breaker opens, and then work again.
func TestBreaker(t *testing.T) {
	host := newTestHost(t)
	var now atomic.Int64
	hooks := host.hooks(t, func(o *hook.Options) { o.Now = func() time.Time { return time.Unix(now.Load(), 0) } })
	ask := func() (api.Verdict, error) { return hooks.Ask(t.Context(), question("grab")) }
	asked := func(want int64) {
		t.Helper()
		if got := host.asked.Load(); got != want {
			t.Fatalf("the host was asked %d times, want %d", got, want)
		}
	}
	fails := func(w http.ResponseWriter, _ *http.Request, _ []byte) { w.WriteHeader(http.StatusBadGateway) }
	host.does(fails)
	for range 4 {
		_, _ = ask()
	}
	host.says(`{"allow":false}`)
	_, _ = ask() // an answer: failures are counted in a row
	host.does(fails)
	for range 5 {
		_, _ = ask()
	}
	asked(10)
	if v, err := ask(); !errors.Is(err, chat.ErrUnavailable) || !v.NotAsked {
		t.Errorf("the breaker is open: %+v, %v", v, err)
	}
	if _, err := hooks.Ask(t.Context(), question("send_packet")); err == nil {
		t.Error("a host that fails has answered")
	}
	asked(11) // other commands have breakers of their own
	now.Add(4)
	_, _ = ask()
	asked(11)
	now.Add(1)
	_, _ = ask() // on trial
	_, _ = ask()
	asked(12)
	host.says(`{"allow":true}`)
	now.Add(5)
	for range 3 {
		if _, err := ask(); err != nil {
			t.Errorf("the host works again: %v", err)
		}
	}
	asked(15)
	if n := count(hooks, "grab", hook.Broken); n != 3 {
		t.Errorf("%d questions failed at once, want 3", n)
	}
}

// TestInvalidAnswersDoNotOpenTheBreaker sends many: a host that answers at once costs nobody time.
func TestInvalidAnswersDoNotOpenTheBreaker(t *testing.T) {
	host := newTestHost(t)
	host.says("no JSON")
	hooks := host.hooks(t)
	for range 10 {
		_, _ = hooks.Ask(t.Context(), question("grab"))
	}
	if host.asked.Load() != 10 {
		t.Errorf("asked %d times, want 10", host.asked.Load())
	}
}

// TestStuckHostCostsOnlyTheCommandsThatAsk lets the host hold all places of a command. Further questions about it must fail, and those about other commands
// must not.
func TestStuckHostCostsOnlyTheCommandsThatAsk(t *testing.T) {
	host := newTestHost(t)
	free := make(chan struct{})
	answer := sync.OnceFunc(func() { close(free) })
	defer answer()
	host.does(func(w http.ResponseWriter, _ *http.Request, body []byte) {
		if strings.Contains(string(body), `"type":"grab"`) {
			<-free
		}
		_, _ = io.WriteString(w, `{"allow":true}`)
	})
	hooks := host.hooks(t, func(o *hook.Options) { o.MaxCalls, o.Timeout, o.PlaceWithin = 3, 2*time.Minute, time.Millisecond })
	var stuck sync.WaitGroup
	for range 3 {
		stuck.Go(func() {
			if _, err := hooks.Ask(context.Background(), question("grab")); err != nil {
				t.Errorf("a question that waited: %v", err)
			}
		})
	}
	for until := time.Now().Add(time.Minute); host.asked.Load() < 3; <-time.After(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("the host was asked %d times in a minute, want 3", host.asked.Load())
		}
	}
	if v, err := hooks.Ask(t.Context(), question("grab")); !errors.Is(err, chat.ErrUnavailable) || !v.NotAsked {
		t.Errorf("one question too many: %+v, %v", v, err)
	}
	if v, err := hooks.Ask(t.Context(), question("send_packet")); err != nil || v.None {
		t.Errorf("about another command: %+v, %v", v, err)
	}
	answer()
	stuck.Wait()
	if count(hooks, "grab", hook.Full) != 1 {
		t.Errorf("counted %+v, want one that was full", hooks.Stats())
	}
}

// TestFullQueueCarriesNothingOut lets two users fill all places. The host is well, so a command that is carried out without an answer must
// not be carried out either.
func TestFullQueueCarriesNothingOut(t *testing.T) {
	host := newTestHost(t)
	free := make(chan struct{})
	answer := sync.OnceFunc(func() { close(free) })
	defer answer()
	host.does(func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		<-free
		_, _ = io.WriteString(w, `{"allow":true}`)
	})
	hooks := host.hooks(t, func(o *hook.Options) { o.MaxCalls, o.MaxPerUser, o.PlaceWithin = 2, 1, time.Millisecond })
	ask := func(user string) (api.Verdict, error) {
		q := question("send")
		q.User.ID = user
		return hooks.Ask(context.Background(), q)
	}
	var stuck sync.WaitGroup
	for _, user := range []string{"ann", "bob"} {
		stuck.Go(func() {
			if v, err := ask(user); err != nil || v.None {
				t.Errorf("a question with a place: %+v, %v", v, err)
			}
		})
	}
	for until := time.Now().Add(time.Minute); host.asked.Load() < 2; <-time.After(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("the host was asked %d times in a minute, want 2", host.asked.Load())
		}
	}
	if v, err := ask("cem"); !errors.Is(err, chat.ErrUnavailable) || v.None || !v.NotAsked {
		t.Errorf("without a place: %+v, %v, want %v", v, err, chat.ErrUnavailable)
	}
	answer()
	stuck.Wait()
}

// TestQuestionOutlivesItsClient asks for a client that goes. The host may have taken money, so its answer counts.
func TestQuestionOutlivesItsClient(t *testing.T) {
	host := newTestHost(t)
	ctx, cancel := context.WithCancel(t.Context())
	host.does(func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		cancel()
		_, _ = io.WriteString(w, `{"allow":true}`)
	})
	hooks := host.hooks(t)
	if v, err := hooks.Ask(ctx, question("grab")); err != nil || v.None {
		t.Errorf("the client went meanwhile: %+v, %v", v, err)
	}
	if v, err := hooks.Ask(ctx, question("grab")); !errors.Is(err, context.Canceled) || !v.NotAsked || host.asked.Load() != 1 {
		t.Errorf("the client had gone before: %+v, %v, asked %d times", v, err, host.asked.Load())
	}
}

func TestHookReachesOnlyPublicAddresses(t *testing.T) {
	host := newTestHost(t)
	_, port, _ := strings.Cut(strings.TrimPrefix(host.site.URL, "http://"), ":")
	for _, name := range []string{"127.0.0.1", "localhost", "[::1]", "10.1.2.3", "169.254.169.254", "[::ffff:127.0.0.1]"} {
		hooks := host.hooks(t, func(o *hook.Options) { o.URL, o.Allowed = "https://"+name+":"+port+"/", []string{"other.example.com"} })
		if _, err := hooks.Ask(t.Context(), question("grab")); err == nil || !strings.Contains(err.Error(), "HONGBAO_HOOK_ALLOW") {
			t.Errorf("https://%s: %v, want a refusal of the address", name, err)
		}
	}
	if host.asked.Load() > 0 {
		t.Errorf("the host was asked %d times", host.asked.Load())
	}
	for name, change := range map[string]func(*hook.Options){
		"http elsewhere":     func(o *hook.Options) { o.URL = "http://example.com/" },
		"a password":         func(o *hook.Options) { o.URL = "https://u:p@example.com/" },
		"no secret":          func(o *hook.Options) { o.Secrets = nil },
		"a short secret":     func(o *hook.Options) { o.Secrets = []string{"whsec_c2hvcnQ="} },
		"an unknown command": func(o *hook.Options) { o.Commands = []string{"recall"} },
	} {
		o := hook.Options{URL: host.site.URL, Secrets: []string{firstSecret}, Allowed: []string{"127.0.0.1"}, Timeout: time.Second, Commands: []string{"send"}}
		change(&o)
		if _, err := hook.New(o); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// FuzzAnswer lets the host answer anything. A verdict that carries out a command must come from an answer that says so.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{`{"allow":true}`, `{"allow":false,"reason":"x","data":{}}`, `{"allow":true,"fund":{"amount":5,"key":"k"}}`, `{"allow":true,"text":"y"}`, `{"allow":true,"preview":{"url":"https://a.b","title":"t"}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		q := question("send_packet")
		q.MaxFund, q.CheckText = 10, func(string) error { return nil }
		q.CheckPreview = func(p chat.Preview, _ *string) error { return p.Check(p.URL) }
		v, outcome, err := hook.ReadVerdict(text, q)
		var said struct{ Allow any }
		_ = json.Unmarshal(text, &said)
		switch {
		case err == nil && said.Allow != true:
			t.Errorf("%q is %s", text, outcome)
		case v.Fund.Amount < 0 || v.Fund.Amount > 10 || err != nil && v.Fund.Amount != 0:
			t.Errorf("%q funds %d, %v", text, v.Fund.Amount, err)
		}
	})
}
