package web

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hongbao/web/user/api"
	"hongbao/web/wire"
)

// requestFixture is a server with a room in which ann and bob are members. The room has a text and an open packet. The tests
// send invalid requests to it.
type requestFixture struct {
	*testServer
	ann, bob, eve, admin api.Caller // eve is not a member of the room
	room, packet         string
}

func newRequestFixture(t *testing.T) *requestFixture {
	w := &requestFixture{testServer: newTestServer(t, withPush(t)), admin: api.Caller{Admin: true}}
	w.ann, w.bob, w.eve = w.signIn(t, "u-ann", 10_000), w.signIn(t, "u-bob", 10_000), w.signIn(t, "u-eve", 10_000)
	w.room = call[wire.CreateRoomReply](t, w.testServer, w.ann, "create_room", wire.CreateRoomRequest{Key: "room", Name: "Hall", Kind: "public"}).Room.ID
	call[wire.JoinReply](t, w.testServer, w.bob, "join", wire.JoinRequest{Room: w.room})
	call[wire.SendReply](t, w.testServer, w.ann, "send", wire.SendRequest{Room: w.room, Key: "hello", Text: "hello"})
	w.packet = call[wire.SendPacketReply](t, w.testServer, w.ann, "send_packet",
		wire.SendPacketRequest{Room: w.room, Key: "packet", Total: 100, Count: new(3)}).Packet.ID
	for _, c := range []api.Caller{w.ann, w.bob, w.eve} { // the first read of a wallet stores a seed in the database
		call[wire.WalletReply](t, w.testServer, c, "wallet", wire.WalletRequest{})
	}
	return w
}

// good returns a valid request for a command or an endpoint. It would succeed, except that its key may be used already.
func (w *requestFixture) good(method string) map[string]any {
	endpoints := map[string]map[string]any{
		"credit": {"user": "u-bob", "amount": 5, "key": "new"}, "debit": {"user": "u-bob", "amount": 5, "key": "new"},
		"audit": {}, "start_audit": {"whole": true}, "heads": {}, "disconnect": {"user": "u-bob"}, "stats": {},
	}
	if good, ok := endpoints[method]; ok {
		return good
	}
	return goodRequest(method, requestNames{
		room: w.room, packet: w.packet, user: "u-bob", invited: "u-eve", blocked: "u-bob", asking: "u-eve", code: w.room + ".00000000000000000000",
	})
}

// with returns the request as JSON. The field is replaced by the JSON text, or removed if the text is empty.
func with(t *testing.T, good map[string]any, field, text string) []byte {
	t.Helper()
	request := maps.Clone(good)
	delete(request, field)
	if text != "" {
		request[field] = json.RawMessage(text)
	}
	return encoded(t, request)
}

// malformed returns JSON values that are invalid for the type of the field.
func malformed(f reflect.StructField) []string {
	if f.Type == reflect.TypeFor[json.RawMessage]() {
		return []string{"null", `"x"`, "1", "true", "[{}]", `{"a":"\u0000"}`, `{"\u0000":1}`}
	}
	kind := f.Type.Kind()
	if kind == reflect.Pointer {
		kind = f.Type.Elem().Kind()
	}
	switch kind {
	case reflect.String:
		return []string{"null", "1", "true", "{}", `["x"]`, `"\u0000"`, `"a\u0000b"`}
	case reflect.Int, reflect.Int64:
		below := "-1"
		if least, err := strconv.Atoi(f.Tag.Get("min")); err == nil && least < 0 {
			below = strconv.Itoa(least - 1)
		}
		return []string{
			"null", "1.0", "1.5", "1e3", `"5"`, `""`, "true", "{}", "[1]", below,
			"9007199254740992", "-9007199254740992", "9223372036854775808", "1e400",
		}
	case reflect.Bool:
		return []string{"null", `"x"`, `"true"`, "{}", "1", "0", "[true]"}
	default:
		return []string{"null", `"x"`, "{}", "1", "[1]", "[null]", `[""]`, `["\u0000"]`, `["a",["b"]]`}
	}
}

// TestMalformedRequests sends each command with each field malformed. The error must be bad_request and name the field,
// and the database must not change.
func TestMalformedRequests(t *testing.T) {
	t.Parallel()
	w := newRequestFixture(t)
	for method, cmd := range w.everyCommand() {
		good := w.good(method)
		if good == nil {
			t.Fatalf("goodRequest has no request of %s: add one", method)
		}
		for f := range reflect.TypeOf(cmd.request).Fields() {
			name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
			bad := malformed(f)
			if option == "" {
				bad = append(bad, "")
			}
			if option == "" && f.Type.Kind() == reflect.String {
				bad = append(bad, `""`)
			}
			w.unchanged(t, method+"."+name, func() {
				for _, text := range bad {
					data := with(t, good, name, text)
					if got := w.refused(t, cmd.caller, method, data); got.Message != "bad_request field="+name {
						t.Errorf("%s %s: got %q, want bad_request field=%s", method, data, got.Message, name)
					}
				}
			})
		}
		w.unchanged(t, method, func() {
			for _, data := range []string{"[]", "5", `"x"`, "{", "{}{}", "{\"\xff\":1}", `{"x":"\u0000"}`, `{"\u0000":1}`} {
				if got := w.refused(t, cmd.caller, method, []byte(data)); got.Code != wire.CodeBadRequest {
					t.Errorf("%s %s: got %+v, want bad_request", method, data, got)
				}
			}
		})
	}
}

type commandUnderTest struct {
	caller  api.Caller
	request any
}

// everyCommand returns all commands of the tables of package wire. A command for which good has no request fails the
// test.
func (w *requestFixture) everyCommand() map[string]commandUnderTest {
	all := map[string]commandUnderTest{}
	for _, m := range wire.Methods {
		all[m.Name] = commandUnderTest{w.ann, m.Request}
	}
	for _, e := range wire.Endpoints {
		if !e.Open && !e.Guest && !e.User {
			all[e.Name] = commandUnderTest{w.admin, cmp.Or[any](e.Request, struct{}{})}
		}
	}
	return all
}

// unchanged runs run and checks that the database is the same afterwards.
func (w *requestFixture) unchanged(t *testing.T, what string, run func()) {
	t.Helper()
	before := w.dump(t)
	run()
	if after := w.dump(t); after != before {
		t.Fatalf("%s changed the database from\n%s\nto\n%s", what, before, after)
	}
}

// mustRefuse runs a command, checks the whole error message, and checks that the database is unchanged.
func (w *requestFixture) mustRefuse(t *testing.T, c api.Caller, method string, data []byte, message string) {
	t.Helper()
	w.unchanged(t, method+" "+string(data), func() {
		if got := w.refused(t, c, method, data); got.Message != message {
			t.Errorf("%s %s: got %q, want %q", method, data, got.Message, message)
		}
	})
}

// TestForbiddenValues sends well-formed requests with values that are not allowed. Each must be refused with the right
// error, and the database must not change.
func TestForbiddenValues(t *testing.T) {
	t.Parallel()
	w := newRequestFixture(t)
	call[wire.UpdateRoomReply](t, w.testServer, w.ann, "update_room", wire.UpdateRoomRequest{Room: w.room, Announcement: new("news")})
	long := func(n int) string { return `"` + strings.Repeat("包", n) + `"` }
	for _, c := range []struct {
		by                  api.Caller
		method, field, text string
		message             string
	}{
		{w.ann, "create_room", "name", long(65), "too_long field=name"},
		{w.ann, "create_room", "name", `" "`, "bad_request field=name"},
		{w.ann, "create_room", "kind", `"secret"`, "bad_request field=kind"},
		{w.ann, "create_room", "kind", `"direct"`, "bad_request field=kind"},
		{w.ann, "create_room", "members", `["u-bob","u-nobody"]`, "contact_refused field=members"},
		{w.ann, "create_room", "members", manyUsers(101), "limit_exceeded field=members"},
		{w.ann, "create_room", "key", `"with space"`, "bad_request field=key"},
		{w.ann, "create_room", "key", `"包"`, "bad_request field=key"},
		{w.ann, "create_room", "key", `"` + strings.Repeat("k", 65) + `"`, "bad_request field=key"},
		{w.ann, "create_room", "key", `"hello"`, "key_reused"},
		{w.ann, "send", "text", long(4001), "too_long field=text"},
		{w.ann, "send", "text", "", "bad_request field=text"},
		{w.ann, "send", "text", `""`, "bad_request field=text"},
		{w.ann, "send", "key", `"packet"`, "key_reused"},
		{w.ann, "send", "key", `"hello"`, "key_reused"},
		{w.ann, "send", "data", `{"a":"` + strings.Repeat("x", 4089) + `"}`, "too_long field=data"},
		{w.ann, "send", "reply_to", "0", "bad_request field=reply_to"},
		{w.ann, "send", "reply_to", "1000", "bad_request field=reply_to"},
		{w.ann, "send", "mentions", manyUsers(51), "limit_exceeded field=mentions"},
		{w.ann, "send", "mentions", `["` + strings.Repeat("u", 65) + `"]`, "bad_request field=mentions"},
		{w.ann, "edit", "text", long(4001), "too_long field=text"},
		{w.ann, "edit", "seq", "0", "bad_request field=seq"},
		{w.ann, "edit", "seq", "1000", "not_found field=seq"},
		{w.ann, "edit", "seq", "2", "bad_request field=seq"}, // seq 2 is the packet, not a text
		{w.bob, "edit", "", "", "forbidden"},
		{w.ann, "recall", "seq", "2", "bad_request field=seq"},
		{w.bob, "recall", "", "", "forbidden"},
		{w.ann, "react", "emoji", long(17), "too_long field=emoji"},
		{w.ann, "react", "seq", "3", "bad_request field=seq"}, // seq 3 is the announcement
		{w.ann, "direct", "user", `"u-ann"`, "bad_request field=user"},
		{w.ann, "direct", "user", `"u-nobody"`, "contact_refused field=user"},
		{w.ann, "invite", "users", "[]", "bad_request field=users"},
		{w.ann, "invite", "users", manyUsers(101), "limit_exceeded field=users"},
		{w.ann, "invite", "users", `["u-eve","u-nobody"]`, "contact_refused field=users"},
		{w.ann, "create_link", "ttl_s", "31536001", "limit_exceeded field=ttl_s limit=31536000"},
		{w.ann, "create_link", "ttl_s", "9007199254740991", "limit_exceeded field=ttl_s limit=31536000"}, // in nanoseconds it overflows
		{w.ann, "create_link", "max_uses", "100001", "limit_exceeded field=max_uses limit=100000"},
		{w.ann, "create_link", "ttl_s", "0", "bad_request field=ttl_s"},
		{w.ann, "revoke_link", "link", `"` + strings.Repeat("l", 65) + `"`, "bad_request field=link"},
		{w.ann, "answer_request", "", "", "not_found field=user"},
		{w.ann, "answer_request", "user", `"` + strings.Repeat("u", 65) + `"`, "bad_request field=user"},
		{w.bob, "answer_request", "", "", "forbidden"},
		{w.bob, "join_requests", "", "", "forbidden"},
		{w.eve, "join_link", "code", `"nonsense"`, "not_found field=code"},
		{w.eve, "join_link", "code", `".00000000000000000000"`, "not_found field=code"},
		{w.eve, "join_link", "code", `"none.00000000000000000000"`, "not_found field=code"},
		{w.ann, "users", "users", manyUsers(101), "limit_exceeded field=users"},
		{w.ann, "users", "users", "[]", "bad_request field=users"},
		{w.ann, "users", "users", `["` + strings.Repeat("u", 65) + `"]`, "bad_request field=users"},
		{w.eve, "join_link", "", "", "not_found field=code"},
		{w.ann, "kick", "user", `"u nobody","ban":true`, "bad_request field=user"},
		{w.ann, "kick", "user", `"u-ann"`, "forbidden"},
		{w.bob, "kick", "user", `"u-ann"`, "forbidden"},
		{w.ann, "mute", "user", `"u-eve"`, "not_found field=user"},
		{w.ann, "mute", "seconds", "-1", "bad_request field=seconds"},
		{w.ann, "set_role", "role", `"king"`, "bad_request field=role"},
		{w.ann, "set_role", "user", `"u-ann"`, "bad_request field=user"},
		{w.ann, "set_role", "user", `"u-eve"`, "not_found field=user"},
		{w.bob, "set_role", "", "", "forbidden"},
		{w.ann, "update_room", "name", long(65), "too_long field=name"},
		{w.ann, "update_room", "announcement", long(1001), "too_long field=announcement"},
		{w.ann, "update_room", "invite", `"owner"`, "bad_request field=invite"},
		{w.bob, "update_room", "", "", "forbidden"},
		{w.bob, "delete_room", "", "", "forbidden"},
		{w.ann, "history", "before", `5,"after":5`, "bad_request field=after"},
		{w.ann, "find_rooms", "next", `"nonsense"`, "bad_request field=next"},
		{w.ann, "rooms", "next", long(65), "bad_request field=next"},
		{w.ann, "rooms", "limit", "-1", "bad_request field=limit"},
		{w.ann, "members", "next", `"nonsense"`, "bad_request field=next"},
		{w.ann, "packets", "next", `"nonsense"`, "bad_request field=next"},
		{w.ann, "wallet", "next", `"nonsense"`, "bad_request field=next"},
		{w.ann, "packets", "direction", `"both"`, "bad_request field=direction"},
		{w.ann, "packets", "direction", `"room"`, "bad_request field=direction"},
		{w.ann, "packets", "utc_offset_min", "841", "bad_request field=utc_offset_min"},
		{w.ann, "room_packets", "part", `"theirs"`, "bad_request field=part"},
		{w.ann, "room_packets", "next", `"nonsense"`, "bad_request field=next"},
		{w.ann, "packets", "to", `5,"from":6`, "bad_request field=to"},

		{w.ann, "send_packet", "mode", `"unlucky"`, "bad_request field=mode"},
		{w.ann, "send_packet", "spread", `"calmer"`, "bad_request field=spread"},
		{w.ann, "send_packet", "total", "0", "bad_request field=total"},
		{w.ann, "send_packet", "total", "2", "bad_request field=total"},
		{w.ann, "send_packet", "total", "20000001", "limit_exceeded field=total"},
		{w.ann, "send_packet", "total", "9007199254740991", "limit_exceeded field=total"},
		{w.ann, "send_packet", "total", "20000000", "insufficient_balance"},
		{w.ann, "send_packet", "count", "0", "bad_request field=count"},
		{w.ann, "send_packet", "count", `10001,"total":20000`, "limit_exceeded field=count"},
		{w.ann, "send_packet", "greeting", long(61), "too_long field=greeting"},
		{w.ann, "send_packet", "skin", `"gold"`, "bad_request field=skin"},
		{w.ann, "send_packet", "ttl_s", "0", "bad_request field=ttl_s"},
		{w.ann, "send_packet", "ttl_s", "4", "bad_request field=ttl_s"},
		{w.ann, "send_packet", "ttl_s", "604801", "limit_exceeded field=ttl_s"},
		{w.ann, "send_packet", "ttl_s", "18446744134", "limit_exceeded field=ttl_s"}, // in nanoseconds it overflows to one minute
		{w.ann, "send_packet", "ttl_s", "9007199254740991", "limit_exceeded field=ttl_s"},
		{w.ann, "send_packet", "key", `"hello"`, "key_reused"},
		{w.ann, "send_packet", "key", `"hello","total":0`, "key_reused"},
		{w.eve, "send_packet", "mode", `"lucky"`, "not_member"},
		{w.bob, "cancel_packet", "", "", "forbidden"},

		{w.admin, "credit", "user", `"` + strings.Repeat("u", 65) + `"`, "bad_request field=user"},
		{w.admin, "credit", "note", long(201), "too_long field=note"},
		{w.admin, "credit", "amount", "0", "bad_request field=amount"},
		{w.admin, "debit", "amount", "10001", "insufficient_balance"},
		{w.admin, "credit", "key", `"start-u-bob"`, "key_reused"},
	} {
		w.mustRefuse(t, c.by, c.method, withText(t, w.good(c.method), c.field, c.text), c.message)
	}
	current := call[wire.WalletReply](t, w.testServer, w.ann, "wallet", wire.WalletRequest{}).NextCommitment
	w.mustRefuse(t, w.ann, "send_packet", with(t, w.good("send_packet"), "commitment", `"0000"`), "conflict next_commitment="+current)
}

// withText returns the request with one field replaced. The text may contain further fields after the value.
func withText(t *testing.T, good map[string]any, field, text string) []byte {
	t.Helper()
	rest := string(with(t, good, field, ""))
	if text == "" {
		return []byte(rest)
	}
	first := `{"` + field + `":` + text
	if rest == "{}" {
		return []byte(first + "}")
	}
	return []byte(first + "," + strings.TrimPrefix(rest, "{"))
}

func manyUsers(n int) string {
	return `["` + strings.Join(slices.Repeat([]string{"u-bob"}, n), `","`) + `"]`
}

// TestUnknownThings names missing rooms and packets, and existing ones that eve, a non-member, uses. Missing things and
// eve's packets must be not_found, and eve's rooms not_member. It also sends unknown and forbidden commands.
func TestUnknownThings(t *testing.T) {
	t.Parallel()
	w := newRequestFixture(t)
	for method, cmd := range w.everyCommand() {
		for _, field := range []string{"room", "packet"} {
			if _, ok := w.good(method)[field]; !ok {
				continue
			}
			w.mustRefuse(t, cmd.caller, method, with(t, w.good(method), field, `"0191d7a0-0000-7000-8000-000000000000"`), "not_found")
			w.mustRefuse(t, cmd.caller, method, with(t, w.good(method), field, `"'; drop table rooms --"`), "not_found")
			switch { // anyone can find a public room, so it is not hidden from eve; its packets and files are
			case field == "packet", method == "file_state", method == "cancel_file":
				w.mustRefuse(t, w.eve, method, with(t, w.good(method), "", ""), "not_found")
			case method != "join":
				w.mustRefuse(t, w.eve, method, with(t, w.good(method), "", ""), "not_member")
			}
		}
	}
	w.mustRefuse(t, w.ann, "no_such_command", nil, "unknown_command")
	w.mustRefuse(t, w.ann, "credit", []byte(`{"user":"u-ann","amount":5,"key":"mine"}`), "unknown_command")
	if _, err := w.callAdmin(t.Context(), w.ann, "credit", []byte(`{"user":"u-ann","amount":5,"key":"mine"}`)); w.errors.Failure(err).Code != wire.CodeForbidden {
		t.Errorf("a member's credit: %v, want forbidden", err)
	}
}
