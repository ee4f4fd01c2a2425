package web

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/store/memstore"
	"hongbao/web/wire"
)

// spending is a limiter that records what is spent, and refuses nothing.
type spending struct {
	mu    sync.Mutex
	spent []string
}

func (s *spending) Take(_ context.Context, key string, r chat.Rate) (time.Duration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spent = append(s.spent, fmt.Sprint(key, " ", r.Tokens()))
	return 0, nil
}

// take returns what was spent since the last call.
func (s *spending) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := strings.Join(s.spent, ", ")
	s.spent = nil
	return text
}

// usersIn returns the fields of a request that hold ids of users.
func usersIn(request any) (fields []string) {
	if request == nil {
		return nil
	}
	for f := range reflect.TypeOf(request).Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if slices.Contains([]string{"user", "users", "members", "mentions", "to"}, name) && f.Type.Kind() != reflect.Int64 && f.Type.Kind() != reflect.Pointer {
			fields = append(fields, name)
		}
	}
	return fields
}

// probe is a command that takes the id of a user, and the commands that could tell afterwards what it has found.
type probe struct {
	method, field string
	data          object // the rest of the request; a key gets the stranger's id as its end
	reads         []string
}

// probes has each command that takes the id of a user.
var probes = []probe{
	{"direct", "user", object{}, nil},
	{"block", "user", object{}, []string{"contacts", "users"}},
	{"create_room", "members", object{"key": "c", "name": "n", "kind": "private"}, nil},
	{"unblock", "user", object{}, []string{"contacts"}},
	{"users", "users", object{}, nil},
	{"create_room", "members", object{"key": "d", "name": "n", "kind": "public"}, nil},
	{"invite", "users", object{}, []string{"members", "users"}},
	{"kick", "user", object{}, []string{"history", "members"}},
	{"kick", "user", object{"ban": true, "reason": "r"}, []string{"history", "members", "users"}},
	{"invite", "users", object{}, []string{"users"}}, // the stranger is banned now
	{"set_role", "user", object{"role": "admin"}, []string{"history"}},
	{"mute", "user", object{"seconds": 60}, []string{"history"}},
	{"unban", "user", object{}, []string{"history"}},
	{"invite", "users", object{}, []string{"members"}}, // the ban has ended
	{"answer_request", "user", object{"admit": true}, []string{"history"}},
	{"answer_request", "user", object{"admit": false}, []string{"history"}},
	{"report", "user", object{"key": "e", "reason": "spam"}, nil},
	{"send", "mentions", object{"key": "m", "text": "hello"}, []string{"history"}},
	{"send_packet", "to", object{"key": "p", "mode": "equal", "total": 10, "count": 1}, nil},
}

var changing = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}|"(at|until|muted_until|created_at)":\d+`)

// TestProbesOfIDsLearnNothing calls each command that takes the id of a user, for a stranger that the server knows and for an id that it does
// not know. The answers and what they cost must be the same, and so must what other commands show afterwards. The stranger that is known
// refuses contact: direct, invite and create_room reach a stranger that accepts it, and have contact rates.
func TestProbesOfIDsLearnNothing(t *testing.T) {
	spent := &spending{}
	engines := newTestEngines(t)
	engines.rooms.Limits.PublicRooms = 2
	s := engines.open(t, func(o *Options) {
		rate := ContactRate{PerUser: 10}
		o.Alone, o.Rates, o.Local, o.Limiter, o.ContactRates = true, true, spent, spent, ContactRates{CreateRoom: rate, Invite: rate, Direct: rate}
	})
	ann := s.signIn(t, "ann", 1000)
	call[wire.SetContactReply](t, s, s.signIn(t, "stranger", 0), "set_contact", wire.SetContactRequest{Contact: "nobody"})
	run := func(method string, data object) string {
		spent.take()
		reply, err := s.Call(t.Context(), ann, method, encoded(t, data))
		if err != nil {
			reply = encoded(t, s.errors.Failure(err))
		}
		return fmt.Sprintf("%s %s, which costs %s", method, reply, spent.take())
	}
	rooms := map[string]string{}
	for _, stranger := range []string{"stranger", "mystery"} { // as many public rooms as ann may own
		request := wire.CreateRoomRequest{Key: "room-of-" + stranger, Name: "mine", Kind: "public"}
		rooms[stranger] = call[wire.CreateRoomReply](t, s, ann, "create_room", request).Room.ID
	}
	transcript := func(stranger string) (lines []string) {
		room := rooms[stranger]
		for _, p := range probes {
			data := object{"room": room, p.field: []string{stranger}}
			if p.field == "user" {
				data["user"] = stranger
			}
			maps.Copy(data, p.data)
			if key, ok := p.data["key"]; ok {
				data["key"] = fmt.Sprint(key, stranger)
			}
			line := []string{run(p.method, data)}
			for _, read := range p.reads {
				line = append(line, run(read, object{"room": room, "limit": 1, "users": []string{stranger}}))
			}
			lines = append(lines, strings.ReplaceAll(changing.ReplaceAllString(strings.Join(line, "\n    "), "_"), stranger, "X"))
		}
		return lines
	}
	known, unknown := transcript("stranger"), transcript("mystery")
	for n, p := range probes {
		if known[n] != unknown[n] {
			t.Errorf("%s with %v:\n  a stranger that the server knows: %s\n  an id that it does not know:     %s", p.method, p.data, known[n], unknown[n])
		}
	}
	for _, m := range wire.Methods {
		for _, field := range usersIn(m.Request) {
			if !slices.ContainsFunc(probes, func(p probe) bool { return p.method == m.Name && p.field == field }) {
				t.Errorf("the table lacks %s, whose %s names users", m.Name, field)
			}
		}
	}
}

// TestForeignPageSpendsNothing sends each request that needs no token as a page elsewhere does in the browser of a visitor. It must be refused
// before it counts against the visitor's address. Pages of this host and programs must be served.
func TestForeignPageSpendsNothing(t *testing.T) {
	spent := &spending{}
	s := newTestServer(t, withGuests, func(o *Options) {
		o.Rates, o.Local, o.Limiter, o.AllowedOrigins = true, spent, spent, []string{"https://friend.example"}
	})
	for _, request := range []struct{ method, path, body string }{
		{http.MethodPost, "/v1/guests", `{"name":"Ann"}`},
		{http.MethodPost, "/v1/guests/redeem", `{"code":"c"}`},
		{http.MethodPost, "/v1/links/preview", `{"code":"c"}`},
		{http.MethodPost, "/v1/rooms/preview", `{"room":"r"}`},
		{http.MethodGet, "/v1/socket", ""},
	} {
		for origin, allowed := range map[string]bool{"": true, "https://example.com": true, "https://friend.example": true, "https://evil.example": false, "null": false} {
			spent.take()
			r := httptest.NewRequest(request.method, "https://example.com"+request.path, strings.NewReader(request.body))
			if origin != "" {
				r.Header.Set("Origin", origin)
			}
			w := httptest.NewRecorder()
			s.Handler().ServeHTTP(w, r)
			if costs := spent.take(); (costs != "") != allowed || (w.Code == http.StatusForbidden) == allowed {
				t.Errorf("%s from origin %q: status %d, and it costs %q", request.path, origin, w.Code, costs)
			}
		}
	}
}

// TestLeavingAndJoiningFillsNoRoom leaves a frozen private room and joins it again and again. Each of both writes an entry, so the user must be
// refused soon. Another room must be left at once.
func TestLeavingAndJoiningFillsNoRoom(t *testing.T) {
	s := newTestServer(t, func(o *Options) { o.Rates, o.Local = true, memstore.NewLimiter(memstore.LimiterOptions{}) })
	boss, ann := s.signIn(t, "boss", 0), s.signIn(t, "ann", 0)
	rooms := [2]string{}
	for n := range rooms {
		request := wire.CreateRoomRequest{Key: fmt.Sprint("k", n), Name: "Tea", Kind: "private", Members: []string{"ann"}}
		rooms[n] = call[wire.CreateRoomReply](t, s, boss, "create_room", request).Room.ID
	}
	if _, err := s.chat.UpdateRoom(t.Context(), chat.System, rooms[0], chat.RoomChange{Frozen: new(true)}); err != nil {
		t.Fatal(err)
	}
	refused := wire.Code(0)
	for range 30 {
		if _, err := s.Call(t.Context(), ann, "leave", encoded(t, wire.LeaveRequest{Room: rooms[0]})); err != nil {
			refused = s.errors.Failure(err).Code
			break
		}
		call[wire.JoinReply](t, s, ann, "join", wire.JoinRequest{Room: rooms[0]})
	}
	if refused != wire.CodeRateLimited {
		t.Errorf("after 30 rounds the answer to leave is %d, want %d", refused, wire.CodeRateLimited)
	}
	call[wire.LeaveReply](t, s, ann, "leave", wire.LeaveRequest{Room: rooms[1]})
}
