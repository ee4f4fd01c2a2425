package web

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hongbao/web/spec/spectest"
	"hongbao/web/user/auth"
	"hongbao/web/wire"
)

// subject is a user that tries every command. The functions return, of a row of expected codes, the one for this user.
type subject struct {
	name    string
	verdict func(v verdicts, private bool) wire.Code
	direct  func(v verdicts) wire.Code // nil: such a user cannot exist in a direct room
}

// subjects are the columns of the table. Invalid tokens are refused before anything else is checked.
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

// TestAuthorisation runs every command as every subject in every kind of room, over HTTP. A forbidden command must be
// refused with the right code, and an allowed one must succeed.
func TestAuthorisation(t *testing.T) {
	t.Parallel()
	for _, m := range wire.Methods {
		if !slices.ContainsFunc(trials, func(x trial) bool { return x.method() == m.Name }) {
			t.Errorf("%s is not tried", m.Name)
		}
	}
	w := newPermissionServer(t)
	for _, x := range trials {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel() // parallel trials share their commits, which saves time
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

// TestEqualRightsHaveEqualVerdicts checks that commands in one row of the table of rights in the documents are tried with the same verdicts.
func TestEqualRightsHaveEqualVerdicts(t *testing.T) {
	first := map[wire.Right]trial{}
	for _, m := range wire.Methods {
		i := slices.IndexFunc(trials, func(x trial) bool { return x.name == m.Name })
		if i < 0 || m.Name == "packet" { // a packet of a room in which the user never was is not found, even if the room is public
			continue
		}
		if same, ok := first[m.Right]; !ok {
			first[m.Right] = trials[i]
		} else if same.want != trials[i].want {
			t.Errorf("%s and %s have the same Right in wire.Methods, and other verdicts in trials", same.name, m.Name)
		}
	}
}

func (x trial) method() string {
	method, _, _ := strings.Cut(x.name, "/")
	return method
}

// permissionServer is the server of these tests, with the guest and the revoked token.
type permissionServer struct {
	*testServer

	h       http.Handler
	spec    spectest.Document
	guest   wire.GuestReply
	revoked string // a token
}

func newPermissionServer(t *testing.T) *permissionServer {
	t.Helper()
	s := newTestServer(t, func(o *Options) { o.Guests = Guests{Key: testGuestKey, Credit: 100_000} }, withPush(t))
	w := &permissionServer{testServer: s, h: s.Handler(), spec: spectest.OpenAPI(t), revoked: goodToken(t, "revoked")}
	w.guest = mustAnswer[wire.GuestReply](t, ask(t, w.h, "POST", "/v1/guests", "", `{"name":"Mei"}`), 200)
	s.signIn(t, "revoked", 1000)
	mustAnswer[wire.DisconnectReply](t, ask(t, w.h, "POST", "/v1/admin/disconnect", adminToken(t), `{"user":"revoked"}`), 200)
	return w
}

func adminToken(t *testing.T) string {
	t.Helper()
	return mint(t, auth.Claims{User: "root", Scope: auth.DefaultAdminScope}, time.Hour)
}

// try runs a command as the subject of a cell and returns the code of the error, or 0. The response must match the
// OpenAPI document.
func (w *permissionServer) try(t *testing.T, c *cell, method string, request any) wire.Code {
	t.Helper()
	r := ask(t, w.h, "POST", "/v1/commands/"+method, c.token, string(encoded(t, request)))
	answer := mustAnswer[object](t, r, r.StatusCode)
	schema, ok := w.spec.At("#/paths/~1v1~1commands~1" + method + "/post/responses/" + strconv.Itoa(r.StatusCode) + "/content/application~1json/schema").(object)
	if !ok {
		t.Fatalf("%s: status %d is not in the document", method, r.StatusCode)
	}
	if bad := w.spec.Mismatch(schema, answer); bad != "" {
		t.Errorf("%s: %v is not as specified: %s", method, answer, bad)
	}
	return codeOfAnswer(answer)
}

// codeOfAnswer returns the code of the error in a response; 0: it has no error.
func codeOfAnswer(answer object) wire.Code {
	failure, ok := answer["error"].(object)
	if !ok {
		return 0
	}
	return wire.Code(failure["code"].(float64))
}

// TestAuthorisationOfAdministrators calls the admin commands. Only a token with the scope of administrators may do so, whatever
// roles the user has in rooms.
func TestAuthorisationOfAdministrators(t *testing.T) {
	t.Parallel()
	w := newPermissionServer(t)
	w.admin(t, "start_audit", nil)
	w.audits(t)
	for name, c := range map[string]struct {
		token string
		code  wire.Code
	}{
		"nobody":         {"", wire.CodeUnauthorized},
		"member":         {goodToken(t, "ann"), wire.CodeForbidden},
		"another scope":  {mint(t, auth.Claims{User: "ann", Scope: "admin"}, time.Hour), wire.CodeForbidden},
		"guest":          {w.guest.Token, wire.CodeForbidden},
		"expired":        {mint(t, auth.Claims{User: "root", Scope: auth.DefaultAdminScope}, -time.Minute), wire.CodeTokenExpired},
		"revoked":        {w.revoked, wire.CodeUnauthorized},
		"service admin":  {adminToken(t), 0},
		"one of several": {mint(t, auth.Claims{User: "root", Scope: "read hongbao:admin"}, time.Hour), 0},
	} {
		for i, e := range wire.Endpoints {
			if e.Open || e.Guest || e.User {
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
