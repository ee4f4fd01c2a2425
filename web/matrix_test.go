package web

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hongbao/web/wire"
)

// subject is somebody who tries every command. His verdict is that of the standing that he has.
type subject struct {
	name    string
	verdict func(v verdicts, private bool) wire.Code
	direct  func(v verdicts) wire.Code // nil: one cannot stand so to a direct room
}

// subjects are the columns. A bad token is refused before anything is looked at.
var subjects = []subject{
	{"outsider", notIn, func(v verdicts) wire.Code { return v.third }},
	{"service admin", notIn, func(v verdicts) wire.Code { return v.third }},
	{"former", func(v verdicts, private bool) wire.Code {
		if private {
			return v.expelled
		}
		return v.former
	}, func(v verdicts) wire.Code { return v.gone }},
	{"member", func(v verdicts, _ bool) wire.Code { return v.member }, func(v verdicts) wire.Code { return v.one }},
	{"guest", func(v verdicts, _ bool) wire.Code { return v.member }, func(v verdicts) wire.Code { return v.one }},
	{"muted", func(v verdicts, _ bool) wire.Code { return v.muted }, nil},
	{"banned", func(v verdicts, _ bool) wire.Code { return v.banned }, nil},
	{"admin", func(v verdicts, _ bool) wire.Code { return v.admin }, nil},
	{"owner", func(v verdicts, _ bool) wire.Code { return v.owner }, nil},
	{"expired", always(wire.CodeTokenExpired), func(verdicts) wire.Code { return wire.CodeTokenExpired }},
	{"revoked", always(wire.CodeUnauthorized), func(verdicts) wire.Code { return wire.CodeUnauthorized }},
}

func notIn(v verdicts, private bool) wire.Code {
	if private {
		return v.hidden
	}
	return v.stranger
}

func always(c wire.Code) func(verdicts, bool) wire.Code {
	return func(verdicts, bool) wire.Code { return c }
}

// TestAuthorisation has every command tried by everybody in every kind of room, over HTTP: what is not allowed must be
// refused in the right words, and what is allowed must be done.
func TestAuthorisation(t *testing.T) {
	for _, m := range wire.Methods {
		if !slices.ContainsFunc(trials, func(x trial) bool { return x.method() == m.Name }) {
			t.Errorf("%s is not tried", m.Name)
		}
	}
	w := newAuthorities(t)
	for _, x := range trials {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel() // what one trial commits, others commit with it
			for i, who := range subjects {
				for _, kind := range []string{"public", "private", "direct"} {
					if kind == "direct" && who.direct == nil {
						continue
					}
					want := who.verdict(x.want, kind == "private")
					if kind == "direct" {
						want = who.direct(x.want)
					}
					c := w.prepare(t, x, i, kind)
					if got := w.try(t, c, x.method(), x.request(c)); got != want {
						t.Errorf("%s in a %s room: %d %s, want %d %s", who.name, kind, got, got.Word(), want, want.Word())
					}
				}
			}
		})
	}
}

func (x trial) method() string {
	method, _, _ := strings.Cut(x.name, "/")
	return method
}

// authorities is the server of the trials, with those whose tokens are special.
type authorities struct {
	*testServer

	h       http.Handler
	spec    spec
	guest   wire.GuestReply
	revoked string // a token
}

func newAuthorities(t *testing.T) *authorities {
	t.Helper()
	s := newTestServer(t, func(o *Options) { o.Guests = Guests{Key: testGuestKey, Credit: 100_000} })
	w := &authorities{testServer: s, h: s.Handler(), spec: specs()["openapi"], revoked: goodToken(t, "revoked")}
	w.guest = mustAnswer[wire.GuestReply](t, ask(t, w.h, "POST", "/v1/guests", "", `{"name":"Mei"}`), 200)
	s.signIn(t, "revoked", 1000)
	mustAnswer[wire.DisconnectReply](t, ask(t, w.h, "POST", "/v1/admin/disconnect", adminToken(t), `{"user":"revoked"}`), 200)
	return w
}

func adminToken(t *testing.T) string {
	t.Helper()
	return mint(t, Claims{User: "root", Scope: "admin"}, time.Hour)
}

// try has the subject of a cell run a command, and gives the code of its error. Whatever the answer is, it is as the
// document says.
func (w *authorities) try(t *testing.T, c *cell, method string, request any) wire.Code {
	t.Helper()
	r := ask(t, w.h, "POST", "/v1/commands/"+method, c.token, string(encoded(t, request)))
	answer := mustAnswer[object](t, r, r.StatusCode)
	response, ok := w.spec.at("#/paths/~1v1~1commands~1" + method + "/post/responses/" + strconv.Itoa(r.StatusCode)).(object)
	if !ok {
		t.Fatalf("%s: status %d is not in the document", method, r.StatusCode)
	}
	schema := response["content"].(object)["application/json"].(object)["schema"].(object)
	if bad := w.spec.misfit(schema, answer, false); bad != "" {
		t.Errorf("%s: %v is not as specified: %s", method, answer, bad)
	}
	return codeOfAnswer(answer)
}

// codeOfAnswer is the code of the error that an answer holds; 0: it holds none.
func codeOfAnswer(answer object) wire.Code {
	failure, ok := answer["error"].(object)
	if !ok {
		return 0
	}
	return wire.Code(failure["code"].(float64))
}

// Only who has the scope admin may do what the host's own service does, whatever he is in rooms.
func TestAuthorisationOfAdministrators(t *testing.T) {
	w := newAuthorities(t)
	for name, c := range map[string]struct {
		token string
		code  wire.Code
	}{
		"nobody":         {"", wire.CodeUnauthorized},
		"member":         {goodToken(t, "ann"), wire.CodeForbidden},
		"another scope":  {mint(t, Claims{User: "ann", Scope: "administrator"}, time.Hour), wire.CodeForbidden},
		"guest":          {w.guest.Token, wire.CodeForbidden},
		"expired":        {mint(t, Claims{User: "root", Scope: "admin"}, -time.Minute), wire.CodeTokenExpired},
		"revoked":        {w.revoked, wire.CodeUnauthorized},
		"service admin":  {adminToken(t), 0},
		"one of several": {mint(t, Claims{User: "root", Scope: "read admin"}, time.Hour), 0},
	} {
		for i, e := range wire.Endpoints {
			if e.Open {
				continue
			}
			body := `{"user":"u","amount":5,"key":"k` + strconv.Itoa(i) + strings.ReplaceAll(name, " ", "-") + `"}`
			r := ask(t, w.h, e.Verb, e.Path, c.token, body)
			if got := codeOfAnswer(mustAnswer[object](t, r, r.StatusCode)); got != c.code {
				t.Errorf("%s as %s: %d, want %d", e.Name, name, got, c.code)
			}
		}
	}
}
