package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/eventlog"
	"hongbao/web/user/api"
	"hongbao/web/wire"
)

// fakeHooks is a host that a test scripts. It wants all commands.
type fakeHooks struct {
	funds bool

	mu     sync.Mutex
	asked  []api.Question                                  // guarded by mu
	answer func(q api.Question) (api.Verdict, error)       // guarded by mu; nil: allow
	once   []func(q api.Question) (v api.Verdict, e error) // guarded by mu; the next answers
}

func (h *fakeHooks) Wants(string) bool { return true }
func (h *fakeHooks) Funds() bool       { return h.funds }

func (h *fakeHooks) Ask(_ context.Context, q api.Question) (api.Verdict, error) {
	h.mu.Lock()
	h.asked = append(h.asked, q)
	answer := h.answer
	if len(h.once) > 0 {
		answer, h.once = h.once[0], h.once[1:]
	}
	h.mu.Unlock()
	if answer == nil {
		return api.Verdict{}, nil
	}
	return answer(q)
}

func (h *fakeHooks) says(answer func(q api.Question) (api.Verdict, error)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answer = answer
}

// then scripts the answer to one question.
func (h *fakeHooks) then(answer func(q api.Question) (api.Verdict, error)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.once = append(h.once, answer)
}

// questions returns what was asked since the last call, as the host would receive it.
func (h *fakeHooks) questions(t *testing.T) (all []string) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, q := range h.asked {
		all = append(all, fmt.Sprintf("%s %s %s %s", q.Command, q.User.ID, q.Room, encoded(t, q.Request)))
	}
	h.asked = nil
	return all
}

func denies(api.Question) (api.Verdict, error) {
	return api.Verdict{}, &api.DeniedError{Reason: "请 1 分钟后再试", Data: json.RawMessage(`{"captcha":"a b=c"}`)}
}

func allows(api.Question) (api.Verdict, error) { return api.Verdict{}, nil }

func fails(q api.Question) (api.Verdict, error) {
	return api.Verdict{None: true}, fmt.Errorf("hook before %s: %w", q.Command, chat.ErrUnavailable)
}

func replaces(text string) func(api.Question) (api.Verdict, error) {
	return func(api.Question) (api.Verdict, error) { return api.Verdict{Text: &text}, nil }
}

func fundsWith(amount redpacket.Money, key string) func(api.Question) (api.Verdict, error) {
	return func(api.Question) (api.Verdict, error) {
		return api.Verdict{Fund: api.Fund{Amount: amount, Key: key}}, nil
	}
}

// hookFixture is a server whose host is scripted. Ann owns a room with bob and cyn.
type hookFixture struct {
	*testServer
	*fakeHooks

	engines       *testEngines
	ann, bob, cyn api.Caller
	room          string
}

func newHookFixture(t *testing.T, change ...func(*Options)) *hookFixture {
	t.Helper()
	s := &hookFixture{engines: newTestEngines(t), fakeHooks: &fakeHooks{}}
	store := s.engines.ledger.(interface {
		redpacket.Fundings
		eventlog.Store
	})
	kinds, err := eventlog.ParseKinds([]string{"transfer.*"})
	noError(t, err)
	store.UseEvents(kinds)
	s.engines.packets.Fundings = store
	s.testServer = s.engines.open(t, append([]func(*Options){func(o *Options) { o.Alone, o.Hooks = true, s.fakeHooks }}, change...)...)
	s.ann, s.bob, s.cyn = s.signIn(t, "ann", 1000), s.signIn(t, "bob", 0), s.signIn(t, "cyn", 0)
	s.room = call[wire.CreateRoomReply](t, s.testServer, s.ann, "create_room", wire.CreateRoomRequest{Key: "room", Name: "Hall", Kind: "public", Members: []string{"bob", "cyn"}}).Room.ID
	s.questions(t)
	return s
}

// each returns a request for each command that is asked about, which succeeds if the host allows it. packet is an open one, and seq is a text of ann.
func (s *hookFixture) each(t *testing.T, n int) map[string]any {
	t.Helper()
	s.says(nil)
	packet := call[wire.SendPacketReply](t, s.testServer, s.ann, "send_packet", wire.SendPacketRequest{Room: s.room, Key: fmt.Sprint("p", n), Total: 10, Count: new(5), Passphrase: "sesame"})
	text := call[wire.SendReply](t, s.testServer, s.ann, "send", wire.SendRequest{Room: s.room, Key: fmt.Sprint("t", n), Text: "first"})
	s.signIn(t, fmt.Sprint("dan", n), 0)
	s.questions(t)
	return map[string]any{
		"send":        wire.SendRequest{Room: s.room, Key: fmt.Sprint("send", n), Text: "hello"},
		"edit":        wire.EditRequest{Room: s.room, Seq: text.Seq, Text: "second"},
		"send_packet": wire.SendPacketRequest{Room: s.room, Key: fmt.Sprint("packet", n), Total: 10, Count: new(1), Passphrase: "sesame"},
		"create_room": wire.CreateRoomRequest{Key: fmt.Sprint("room", n), Name: "Other", Kind: "public"},
		"invite":      wire.InviteRequest{Room: s.room, Users: []string{fmt.Sprint("dan", n)}},
		"grab":        wire.GrabRequest{Packet: packet.Packet.ID, Passphrase: "sesame"},
	}
}

// TestHostIsAskedBeforeEachCommand sends the commands over a socket and over HTTP. Denied, they change nothing; allowed, they succeed.
func TestHostIsAskedBeforeEachCommand(t *testing.T) {
	s := newHookFixture(t)
	addr := s.listen(t)
	n := 0
	overHTTP := func(t *testing.T, method string, request any) (answer, fault []byte) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+addr+"/v1/commands/"+method, bytes.NewReader(encoded(t, request)))
		noError(t, err)
		req.Header.Set("Authorization", "Bearer "+goodToken(t, "ann"))
		resp, err := http.DefaultClient.Do(req)
		noError(t, err)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		noError(t, err)
		if resp.StatusCode == http.StatusOK {
			return body, nil
		}
		return nil, body
	}
	overSocket := func(e wire.Encoding) func(t *testing.T, method string, request any) (answer, fault []byte) {
		c, _ := connected(t, addr, e, "ann")
		id := uint32(1)
		return func(t *testing.T, method string, request any) (answer, fault []byte) {
			id++
			c.send(fmt.Sprintf(`{"id":%d,"rpc":{"method":%q,"data":%s}}`, id, method, encoded(t, request)))
			r := c.reply(id)
			if r.Error == nil {
				return r.Rpc.Data, nil
			}
			return nil, encoded(t, object{"error": r.Error})
		}
	}
	message := `denied reason=%E8%AF%B7%201%20%E5%88%86%E9%92%9F%E5%90%8E%E5%86%8D%E8%AF%95 data=%7B%22captcha%22:%22a%20b=c%22%7D`
	for name, c := range map[string]struct {
		run  func(t *testing.T, method string, request any) (answer, fault []byte)
		want string // the fault
	}{
		"http":     {overHTTP, `{"error":{"code":1040,"message":"` + message + `","temporary":false,"reason":"请 1 分钟后再试","data":{"captcha":"a b=c"}}}`},
		"json":     {overSocket(wire.JSON), `{"error":{"code":1040,"message":"` + message + `"}}`}, // what an SDK sees
		"protobuf": {overSocket(wire.Protobuf), `{"error":{"code":1040,"message":"` + message + `"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			n++
			for method, request := range s.each(t, n) {
				before := s.stored(t)
				s.says(denies)
				if _, fault := c.run(t, method, request); string(fault) != c.want {
					t.Errorf("%s: %s\nwant %s", method, fault, c.want)
				}
				want := strings.Replace(string(encoded(t, request)), `,"passphrase":"sesame"`, "", 1)
				asked := s.questions(t)
				if room := map[bool]string{true: "", false: s.room}[method == "create_room"]; !slices.Equal(asked, []string{method + " ann " + room + " " + want}) {
					t.Errorf("asked %v, want one question about %s", asked, want)
				}
				s.says(fails)
				if _, fault := c.run(t, method, request); !strings.Contains(string(fault), `"code":1000`) {
					t.Errorf("%s without a verdict: %s, want unavailable", method, fault)
				}
				if now := s.stored(t); now != before {
					t.Errorf("%s was refused, and has changed the database: %s", method, now)
				}
				s.says(allows)
				if _, fault := c.run(t, method, request); fault != nil {
					t.Errorf("%s: %s", method, fault)
				}
				s.questions(t)
			}
		})
	}
}

// stored counts what commands store.
func (s *hookFixture) stored(t *testing.T) string {
	t.Helper()
	return strings.Join(s.rows(t, `select (select count(*) from entries), (select count(*) from rooms), (select count(*) from claims), (select count(*) from transfers)`), "")
}

// TestDenialOnTheWire reads the bytes of a socket in JSON, whose error has the fields that SDKs do not know.
func TestDenialOnTheWire(t *testing.T) {
	got := wire.ErrorReply(wire.JSON, 7, wire.NewDenial("wait", json.RawMessage("{\"a\":\n1}")))
	if want := `{"id":7,"error":{"code":1040,"message":"denied reason=wait data=%7B%22a%22:%0A1%7D","reason":"wait","data":{"a":1}}}`; string(got) != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := wire.NewDenial("", nil); got.Message != "denied" || got.Temporary {
		t.Errorf("without words: %+v", got)
	}
}

// TestHostIsNotAskedAboutItsOwnCommands sends the commands through the server API.
func TestHostIsNotAskedAboutItsOwnCommands(t *testing.T) {
	s := newHookFixture(t)
	requests := s.each(t, 1)
	s.says(denies)
	for method, request := range requests {
		if _, err := s.CallFor(t.Context(), s.ann.User, "", method, encoded(t, request)); err != nil {
			t.Errorf("%s: %v", method, err)
		}
	}
	if asked := s.questions(t); asked != nil {
		t.Errorf("the host was asked %v", asked)
	}
}

// TestHopelessRequestsAreNotAskedAbout sends requests of a wrong form, and too many requests.
func TestHopelessRequestsAreNotAskedAbout(t *testing.T) {
	s := newHookFixture(t, withRates, withoutRefill)
	long := strings.Repeat("x", 5000)
	for _, c := range []struct {
		method  string
		request any
		want    wire.Code
	}{
		{"send", wire.SendRequest{Room: s.room, Key: "k", Text: long}, wire.CodeTooLong},
		{"send", wire.SendRequest{Room: s.room, Text: "no key"}, wire.CodeBadRequest},
		{"edit", wire.EditRequest{Room: s.room, Seq: 1, Text: long}, wire.CodeTooLong},
		{"send_packet", wire.SendPacketRequest{Room: s.room, Key: "k", Total: 1, Count: new(2)}, wire.CodeBadRequest},
		{"create_room", wire.CreateRoomRequest{Key: "k", Name: long, Kind: "public"}, wire.CodeTooLong},
		{"invite", wire.InviteRequest{Room: s.room}, wire.CodeBadRequest},
		{"grab", wire.GrabRequest{Packet: "none"}, wire.CodeNotFound},
	} {
		if got := s.refused(t, s.ann, c.method, encoded(t, c.request)); got.Code != c.want {
			t.Errorf("%s: %+v, want %d", c.method, got, c.want)
		}
	}
	if asked := s.questions(t); asked != nil {
		t.Errorf("the host was asked %v", asked)
	}
	for i := range 30 {
		_, _ = s.Call(t.Context(), s.ann, "send", encoded(t, wire.SendRequest{Room: s.room, Key: fmt.Sprint(i), Text: "x"}))
	}
	if asked := len(s.questions(t)); asked < 10 || asked > 25 {
		t.Errorf("the host was asked about %d of 30 texts, want as many as the rate allows", asked)
	}
}

// TestHostReplacesTexts lets the host replace what a user says. A repeated request is known by what the user has sent, whatever the host says
// then.
func TestHostReplacesTexts(t *testing.T) {
	s := newHookFixture(t)
	last := func() wire.Entry {
		t.Helper()
		all := call[wire.HistoryReply](t, s.testServer, s.bob, "history", wire.HistoryRequest{Room: s.room}).Entries
		return all[len(all)-1]
	}
	s.then(replaces("h***o"))
	sent := call[wire.SendReply](t, s.testServer, s.ann, "send", wire.SendRequest{Room: s.room, Key: "k", Text: "hello"})
	if e := last(); string(e.Body) != `{"text":"h***o"}` {
		t.Errorf("the text is stored as %s", e.Body)
	}
	for _, answer := range []func(api.Question) (api.Verdict, error){replaces("another"), denies, fails, allows} {
		s.then(answer)
		again := call[wire.SendReply](t, s.testServer, s.ann, "send", wire.SendRequest{Room: s.room, Key: "k", Text: "hello"})
		if !again.Dup || again.Seq != sent.Seq {
			t.Errorf("the repeated request: %+v, want %+v again", again, sent)
		}
	}
	if got := s.refused(t, s.ann, "send", encoded(t, wire.SendRequest{Room: s.room, Key: "k", Text: "h***o"})); got.Code != wire.CodeKeyReused {
		t.Errorf("another text with the same key: %+v", got)
	}

	s.then(replaces("e***d"))
	call[wire.SeqReply](t, s.testServer, s.ann, "edit", wire.EditRequest{Room: s.room, Seq: sent.Seq, Text: "edited"})
	if e := last(); !strings.Contains(string(e.Body), `"e***d"`) {
		t.Errorf("the edit is stored as %s", e.Body)
	}

	s.then(replaces("祝***"))
	request := wire.SendPacketRequest{Room: s.room, Key: "p", Total: 10, Count: new(2), Greeting: "祝贺"}
	packet := call[wire.SendPacketReply](t, s.testServer, s.ann, "send_packet", request)
	if packet.Packet.Greeting != "祝***" {
		t.Errorf("the greeting is %q", packet.Packet.Greeting)
	}
	for _, answer := range []func(api.Question) (api.Verdict, error){denies, allows} {
		s.then(answer)
		if again := call[wire.SendPacketReply](t, s.testServer, s.ann, "send_packet", request); !again.Dup || again.Packet.ID != packet.Packet.ID {
			t.Errorf("the repeated packet: %+v", again)
		}
	}
	s.then(replaces(""))
	plain := call[wire.SendPacketReply](t, s.testServer, s.ann, "send_packet", wire.SendPacketRequest{Room: s.room, Key: "q", Total: 10, Count: new(2), Greeting: "bad"})
	if plain.Packet.Greeting != redpacket.DefaultGreeting {
		t.Errorf("the greeting of an empty text is %q", plain.Packet.Greeting)
	}
}

// TestHostGivesPreviews answers with previews of links, at a send and at an edit. The question must accept those only that fit the stored text.
func TestHostGivesPreviews(t *testing.T) {
	s := newHookFixture(t)
	gives := func(url string, text *string) func(api.Question) (api.Verdict, error) {
		return func(q api.Question) (api.Verdict, error) {
			p := chat.Preview{URL: url, Title: "A page"}
			if err := q.CheckPreview(p, text); err != nil {
				return api.Verdict{Text: text, NoPreview: err}, nil //nolint:nilerr // the error is part of the verdict
			}
			return api.Verdict{Text: text, Preview: &p}, nil
		}
	}
	first := func() string {
		t.Helper()
		for _, e := range call[wire.HistoryReply](t, s.testServer, s.bob, "history", wire.HistoryRequest{Room: s.room}).Entries {
			if e.Kind == "text" {
				body, _, _ := strings.Cut(string(e.Body), `,"edited_at"`)
				return body
			}
		}
		return ""
	}
	s.then(gives("https://a.example", nil))
	request := wire.SendRequest{Room: s.room, Key: "k", Text: "see https://a.example"}
	sent := call[wire.SendReply](t, s.testServer, s.ann, "send", request)
	if got, want := first(), `{"text":"see https://a.example","preview":{"url":"https://a.example","title":"A page"}}`; got != want {
		t.Errorf("the text is %s, want %s", got, want)
	}
	if again := call[wire.SendReply](t, s.testServer, s.ann, "send", request); !again.Dup || again.Seq != sent.Seq {
		t.Errorf("the repeated request, now without a preview: %+v", again)
	}
	for i, c := range []struct{ url, replaced, want string }{
		{"https://b.example", "see https://b.example", `{"text":"see https://b.example","preview":{"url":"https://b.example","title":"A page"}}`},
		{"https://a.example", "see https://c.example", `{"text":"see https://c.example"}`}, // the user's text has this link, and the stored one does not
	} {
		s.then(gives(c.url, &c.replaced))
		call[wire.SeqReply](t, s.testServer, s.ann, "edit", wire.EditRequest{Room: s.room, Seq: sent.Seq, Text: fmt.Sprint("see https://a.example ", i)})
		if got := first() + "}"; got != c.want {
			t.Errorf("the edited text is %s, want %s", got, c.want)
		}
	}
}

// TestHostJudgesUploads holds an upload, denies one, and allows one. The question has the file, and only that one can be sent that the host allows.
func TestHostJudgesUploads(t *testing.T) {
	s := newHookFixture(t)
	h := s.Handler()
	upload := func(content string, status int) (id, answer string) {
		t.Helper()
		f := call[wire.FileState](t, s.testServer, s.ann, "begin_file", wire.BeginFileRequest{Room: s.room, Kind: "file", Name: "list.pdf", Type: "application/pdf", Size: int64(len(content))})
		r := ask(t, h, "POST", "/v1/files/"+s.room+"/"+f.File.ID, fileToken(t, "ann"), content)
		body, err := io.ReadAll(r.Body)
		noError(t, err)
		if r.StatusCode != status {
			t.Errorf("%s: status %d: %s", content, r.StatusCode, body)
		}
		want := fmt.Sprintf(`file ann %s {"id":%q,"kind":"file","name":"list.pdf","type":"application/pdf","size":%d}`, s.room, f.File.ID, len(content))
		if asked := s.questions(t); !slices.Equal(asked, []string{want}) {
			t.Errorf("asked %q, want %q", asked, want)
		}
		return f.File.ID, string(body)
	}
	s.then(func(api.Question) (api.Verdict, error) { return api.Verdict{Hold: true}, nil })
	held, answer := upload("held", 200)
	if !strings.Contains(answer, `"state":"held"`) {
		t.Errorf("the answer is %s", answer)
	}
	refused(t, s.testServer, s.ann, "send", wire.SendRequest{Room: s.room, Key: "held", Files: []string{held}}, wire.CodeConflict)
	s.questions(t)
	s.then(denies)
	denied, answer := upload("denied", 403)
	if !strings.Contains(answer, "请 1 分钟后再试") {
		t.Errorf("the answer is %s", answer)
	}
	refused(t, s.testServer, s.ann, "file_state", wire.FileRequest{Room: s.room, File: denied}, wire.CodeNotFound)
	allowed, _ := upload("allowed", 200)
	call[wire.SendReply](t, s.testServer, s.ann, "send", wire.SendRequest{Room: s.room, Key: "allowed", Files: []string{allowed}})
}

// TestHostIsAskedAboutOpenPacketsOnly grabs a packet before and after its end. A user that has a share learns so, whatever the host says.
func TestHostIsAskedAboutOpenPacketsOnly(t *testing.T) {
	s := newHookFixture(t)
	packet := call[wire.SendPacketReply](t, s.testServer, s.ann, "send_packet", wire.SendPacketRequest{Room: s.room, Key: "p", Total: 10, Count: new(2)}).Packet.ID
	grab := func(by api.Caller) string {
		t.Helper()
		return call[wire.GrabReply](t, s.testServer, by, "grab", wire.GrabRequest{Packet: packet}).Outcome
	}
	s.questions(t)
	if got := grab(s.ann); got != "won" {
		t.Errorf("allowed: %s", got)
	}
	s.says(denies)
	if got := grab(s.ann); got != "already" {
		t.Errorf("denied with a share: %s", got)
	}
	if got := s.refused(t, s.bob, "grab", encoded(t, wire.GrabRequest{Packet: packet})); got.Code != wire.CodeDenied {
		t.Errorf("denied without a share: %+v", got)
	}
	s.says(nil)
	if got := grab(s.bob); got != "won" {
		t.Errorf("allowed: %s", got)
	}
	s.eventually(t, "the packet has ended", func() bool {
		_, done := s.packets.FromMemory("u-ann", packet, func(string, string) (chat.Standing, bool) { return chat.Standing{}, true })
		return done
	})
	s.says(denies)
	s.questions(t)
	if one, two := grab(s.ann), grab(s.cyn); one != "already" || two != "empty" {
		t.Errorf("after the end: %s and %s", one, two)
	}
	if asked := s.questions(t); asked != nil {
		t.Errorf("the host was asked about a finished packet: %v", asked)
	}
}

// balance returns what a user has, and the money events since the last call, as kind and details.
func (s *hookFixture) balance(t *testing.T, user string) int64 {
	t.Helper()
	acc, err := s.packets.Account(t.Context(), user)
	noError(t, err)
	return int64(acc.Balance)
}

// reversals returns the details of the events transfer.reversed, each with the funding's id as F.
func (s *hookFixture) reversals(t *testing.T) (all []string) {
	t.Helper()
	kinds, _ := eventlog.ParseKinds([]string{"transfer.reversed"})
	batch, err := s.engines.ledger.(eventlog.Store).Events(t.Context(), eventlog.Query{Kinds: kinds, Limit: 100})
	noError(t, err)
	for _, e := range batch.Events {
		var details struct {
			Funding, Key string
			HostKey      string `json:"host_key"`
			Amount       int64
		}
		if err := json.Unmarshal(e.Data, &details); err != nil || details.Funding == "" || e.User == "" {
			t.Errorf("event %+v: %v", e, err)
		}
		all = append(all, fmt.Sprintf("%s %s %d %s", e.User, details.Key, details.Amount, details.HostKey))
	}
	return all
}

// TestHostFundsPackets lets the host pay for packets of bob. The wallet of bob is empty.
func TestHostFundsPackets(t *testing.T) {
	s := newHookFixture(t)
	s.funds = true
	request := wire.SendPacketRequest{Room: s.room, Key: "one", Total: 100, Count: new(2)}
	send := func() wire.SendPacketReply {
		t.Helper()
		return call[wire.SendPacketReply](t, s.testServer, s.bob, "send_packet", request)
	}
	var asked []api.Question
	s.then(func(q api.Question) (api.Verdict, error) {
		asked = append(asked, q)
		return fundsWith(100, "debit-1")(q)
	})
	first := send()
	if first.Dup || first.Balance != 0 || len(asked) != 1 || asked[0].ID == "" || asked[0].MaxFund != 100 {
		t.Errorf("sent %+v after %+v", first, asked)
	}
	s.questions(t)
	for range 2 {
		if again := send(); !again.Dup || again.Packet.ID != first.Packet.ID {
			t.Errorf("repeated: %+v", again)
		}
	}
	if q := s.questions(t); q != nil {
		t.Errorf("asked again about a packet that was sent: %v", q)
	}
	if got := s.rows(t, `select state, amount, host_key, packet_id from fundings`); !slices.Equal(got, []string{"sent | 100 | debit-1 | " + first.Packet.ID}) {
		t.Errorf("fundings %v", got)
	}
	transfers := call[wire.WalletReply](t, s.testServer, s.bob, "wallet", wire.WalletRequest{}).Transfers
	if len(transfers) != 2 || transfers[0].Kind != "send" || transfers[1].Kind != "credit" || transfers[1].Amount != 100 {
		t.Errorf("transfers %+v", transfers)
	}

	request.Key, request.Total = "two", 50
	s.then(allows) // without money
	if got := s.refused(t, s.bob, "send_packet", encoded(t, request)); got.Code != wire.CodeInsufficientBalance {
		t.Errorf("not funded: %+v", got)
	}
	s.then(denies)
	if got := s.refused(t, s.bob, "send_packet", encoded(t, request)); got.Code != wire.CodeDenied {
		t.Errorf("denied: %+v", got)
	}
	if got := s.reversals(t); got != nil || len(s.rows(t, `select id from fundings`)) != 1 {
		t.Errorf("reversed %v, although the host has taken nothing", got)
	}
}

// TestRefusedPacketsAreReversedOnce funds packets that are refused.
func TestRefusedPacketsAreReversedOnce(t *testing.T) {
	s := newHookFixture(t)
	s.funds = true
	refused := func(key string, total int64, commitment string, answer func(api.Question) (api.Verdict, error), want wire.Code) {
		t.Helper()
		if answer != nil {
			s.then(answer)
		}
		request := wire.SendPacketRequest{Room: s.room, Key: key, Total: total, Count: new(2), Commitment: commitment}
		if got := s.refused(t, s.bob, "send_packet", encoded(t, request)); got.Code != want {
			t.Errorf("%s: %+v, want %d", key, got, want)
		}
	}
	refused("poor", 100, "", fundsWith(60, "d1"), wire.CodeInsufficientBalance)
	want := []string{"bob poor 60 d1"}
	if got := s.reversals(t); !slices.Equal(got, want) {
		t.Errorf("reversed %v, want %v", got, want)
	}
	// The next request with the same key is a new funding. The host's old key does not fund it.
	refused("poor", 100, "", fundsWith(100, "d1"), wire.CodeConflict)
	s.then(fundsWith(100, "d2"))
	call[wire.SendPacketReply](t, s.testServer, s.bob, "send_packet", wire.SendPacketRequest{Room: s.room, Key: "poor", Total: 100, Count: new(2)})
	want = append(want, "bob poor 100 ")
	if got := s.reversals(t); !slices.Equal(got, want) {
		t.Errorf("reversed %v, want %v", got, want)
	}
	// A wrong commitment keeps the funding for the request that follows at once.
	var ids []string
	remember := func(q api.Question) (api.Verdict, error) {
		ids = append(ids, q.ID)
		return fundsWith(100, "d3")(q)
	}
	refused("race", 100, "00", remember, wire.CodeConflict)
	refused("race", 99, "", nil, wire.CodeKeyReused)
	s.then(remember)
	sent := call[wire.SendPacketReply](t, s.testServer, s.bob, "send_packet", wire.SendPacketRequest{Room: s.room, Key: "race", Total: 100, Count: new(2)})
	if len(ids) != 2 || ids[0] != ids[1] || sent.Dup {
		t.Errorf("ids %v, sent %+v", ids, sent)
	}
	if got := s.reversals(t); !slices.Equal(got, want) {
		t.Errorf("reversed %v, want %v", got, want)
	}
	// The wallet has paid the packet before the host funds it.
	eve := s.signIn(t, "eve", 100)
	call[wire.JoinReply](t, s.testServer, eve, "join", wire.JoinRequest{Room: s.room})
	twice := wire.SendPacketRequest{Room: s.room, Key: "twice", Total: 100, Count: new(2)}
	s.then(allows)
	call[wire.SendPacketReply](t, s.testServer, eve, "send_packet", twice)
	s.then(fundsWith(100, "d4"))
	if again := call[wire.SendPacketReply](t, s.testServer, eve, "send_packet", twice); !again.Dup {
		t.Errorf("sent again: %+v", again)
	}
	want = append(want, "eve twice 100 d4")
	if got := s.reversals(t); !slices.Equal(got, want) {
		t.Errorf("reversed %v, want %v", got, want)
	}
	// A user outside the room costs the host nothing.
	dan := s.signIn(t, "dan", 0)
	s.questions(t)
	if got := s.refused(t, dan, "send_packet", encoded(t, wire.SendPacketRequest{Room: s.room, Key: "k", Total: 100, Count: new(2)})); got.Code != wire.CodeNotMember && got.Code != wire.CodeNotFound {
		t.Errorf("outside: %+v", got)
	}
	if q := s.questions(t); q != nil || s.balance(t, "bob") != 0 {
		t.Errorf("asked %v, bob has %d", q, s.balance(t, "bob"))
	}
}

// TestConcurrentRequestsShareAFunding sends the same packet twice at once, while the host holds its answers. One of them is sent; the host
// has taken the money once.
func TestConcurrentRequestsShareAFunding(t *testing.T) {
	s := newHookFixture(t)
	s.funds = true
	both, ids := make(chan struct{}), make(chan string, 2)
	s.says(func(q api.Question) (api.Verdict, error) {
		ids <- q.ID
		<-both
		return fundsWith(100, "debit-"+q.ID[:8])(q)
	})
	request := encoded(t, wire.SendPacketRequest{Room: s.room, Key: "same", Total: 100, Count: new(2)})
	var running sync.WaitGroup
	var mu sync.Mutex
	dups := map[bool]int{}
	for range 2 {
		running.Go(func() {
			data, err := s.Call(context.Background(), s.bob, "send_packet", request)
			var sent wire.SendPacketReply
			if err == nil {
				err = json.Unmarshal(data, &sent)
			}
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			dups[sent.Dup]++
		})
	}
	one, two := <-ids, <-ids
	close(both)
	running.Wait()
	if one != two || !reflect.DeepEqual(dups, map[bool]int{true: 1, false: 1}) {
		t.Errorf("ids %s and %s, dups %v", one, two, dups)
	}
	if got := s.reversals(t); got != nil || s.balance(t, "bob") != 0 {
		t.Errorf("reversed %v, bob has %d", got, s.balance(t, "bob"))
	}
}

// TestLostAnswersAreReversedLater asks a host that gives no answer. The funding is kept for a repeated request, and reversed if none comes.
func TestLostAnswersAreReversedLater(t *testing.T) {
	s := newHookFixture(t)
	s.funds = true
	var ids []string
	remember := func(answer func(api.Question) (api.Verdict, error)) func(api.Question) (api.Verdict, error) {
		return func(q api.Question) (api.Verdict, error) {
			ids = append(ids, q.ID)
			return answer(q)
		}
	}
	request := wire.SendPacketRequest{Room: s.room, Key: "lost", Total: 100, Count: new(2)}
	s.then(remember(fails))
	if got := s.refused(t, s.bob, "send_packet", encoded(t, request)); got.Code != wire.CodeUnavailable {
		t.Errorf("no answer: %+v", got)
	}
	s.then(remember(denies)) // the host may have taken the money the first time
	if got := s.refused(t, s.bob, "send_packet", encoded(t, request)); got.Code != wire.CodeDenied {
		t.Errorf("denied: %+v", got)
	}
	s.then(remember(fundsWith(100, "d1")))
	call[wire.SendPacketReply](t, s.testServer, s.bob, "send_packet", request)
	if len(ids) != 3 || ids[0] != ids[1] || ids[1] != ids[2] {
		t.Errorf("ids %v, want one", ids)
	}

	request.Key = "never"
	s.then(fails)
	if got := s.refused(t, s.bob, "send_packet", encoded(t, request)); got.Code != wire.CodeUnavailable {
		t.Errorf("no answer: %+v", got)
	}
	request.Key = "not asked"
	s.then(func(api.Question) (api.Verdict, error) {
		return api.Verdict{None: true, NotAsked: true}, chat.ErrUnavailable
	})
	if got := s.refused(t, s.bob, "send_packet", encoded(t, request)); got.Code != wire.CodeBadRequest { // a key has no space
		t.Errorf("a wrong key: %+v", got)
	}
	request.Key = "not-asked"
	if got := s.refused(t, s.bob, "send_packet", encoded(t, request)); got.Code != wire.CodeUnavailable {
		t.Errorf("not asked: %+v", got)
	}
	s.then(func(api.Question) (api.Verdict, error) { return api.Verdict{None: true}, nil }) // the hook is open
	request.Key = "open"
	if got := s.refused(t, s.bob, "send_packet", encoded(t, request)); got.Code != wire.CodeInsufficientBalance {
		t.Errorf("open without an answer: %+v", got)
	}
	if got := s.reversals(t); got != nil {
		t.Errorf("reversed at once: %v", got)
	}
	later := s.engines.packets
	later.Now = func() time.Time { return time.Now().Add(time.Minute) }
	other := redpacket.New(s.engines.ledger, s.engines.pool, s.chat, s.pub, later)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = other.Run(ctx) })
	s.eventually(t, "two fundings are reversed", func() bool { return len(s.reversals(t)) == 2 })
	cancel()
	running.Wait()
	got := s.reversals(t)
	slices.Sort(got)
	if want := []string{"bob never 0 ", "bob open 0 "}; !slices.Equal(got, want) {
		t.Errorf("reversed %q, want %q", got, want)
	}
}
