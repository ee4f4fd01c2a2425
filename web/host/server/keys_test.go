package server_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/web/host/hostapi"
	"hongbao/web/host/server"
	"hongbao/web/wire"
)

func TestKeysFileIsParsedStrictly(t *testing.T) {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "sha256:" + hex.EncodeToString(sum[:])
	}
	keys, err := server.ParseKeys([]byte("# keys\n\nshop " + hash("a") + " chat,read\nshop " + hash("b") + " money 20\r\n"))
	if err != nil || len(keys) != 2 || keys[0].Name != "shop" || !keys[0].May(hostapi.Chat) || !keys[0].May(hostapi.Read) || keys[0].May(hostapi.Money) ||
		keys[0].Rate != server.DefaultRate || keys[1].Rate.PerSecond != 20 || keys[1].Rate.Burst != 40 {
		t.Errorf("%+v, %v", keys, err)
	}
	for text, want := range map[string]string{
		"shop " + hash("a"):                                  "line 1: 2 words",
		"#\nshop " + hash("a") + " chat 5 6":                 "line 2: 5 words",
		"shöp " + hash("a") + " chat":                        `the name "shöp"`,
		"shop sha256:abc chat":                               "64 hex digits",
		"shop " + hash("a")[7:] + " chat":                    "64 hex digits",
		"shop " + hash("a") + " chat,every":                  `the scope "every"`,
		"shop " + hash("a") + " ,":                           `the scope ""`,
		"shop " + hash("a") + " chat 0":                      `"0" requests a second`,
		"a " + hash("a") + " chat\nb " + hash("a") + " chat": "the keys a and b have the same hash",
		"a " + hash("1") + " chat\na " + hash("2") + " chat\na " + hash("3") + " chat": "line 3: a is the name of more than 2 keys",
	} {
		if _, err := server.ParseKeys([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error with %q", text, err, want)
		}
	}
}

// TestKeysFileIsReadAgain changes the file while Run runs: a valid file is used, any other one leaves the keys as they are.
func TestKeysFileIsReadAgain(t *testing.T) {
	_, first, err := server.NewKey("first", []hostapi.Scope{hostapi.Read})
	noError(t, err)
	_, second, err := server.NewKey("second", []hostapi.Scope{hostapi.Read})
	noError(t, err)
	file := filepath.Join(t.TempDir(), "keys")
	write := func(text string) {
		noError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	write(first)
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		keys, err := server.ReadKeys(file, slog.New(slog.NewTextHandler(&log, nil)))
		noError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { keys.Run(ctx) })
		for _, step := range []struct{ text, want string }{
			{second, "second"}, {"", "second"}, {"broken", "second"}, {first + "\n" + second, "first second"}, {"# none", ""},
		} {
			write(step.text)
			time.Sleep(3 * time.Second)
			synctest.Wait()
			if got := strings.Join(keys.Names(), " "); got != step.want {
				t.Errorf("file %q: keys %q, want %q", step.text, got, step.want)
			}
		}
		noError(t, os.Remove(file))
		time.Sleep(20 * time.Second)
		cancel()
		running.Wait()
		if n := strings.Count(log.String(), "keys file refused"); n != 3 {
			t.Errorf("%d refusals logged, want one for each of three contents:\n%s", n, log.String())
		}
	})
}

func TestWrongKeysLearnNothing(t *testing.T) {
	h := newTestHost(t)
	h.known("ann")
	for _, key := range []string{"", "x", h.all[:len(h.all)-1], h.all + "A", strings.ToLower(h.all), strings.Repeat("A", 8000)} {
		for _, path := range []string{"/v1/server/users/ann", "/v1/server/users/nobody", "/v1/server/nothing", "/"} {
			h.refused(h.send(key, "GET", path, nil), wire.CodeUnauthorized, "unauthorized")
		}
	}
	if counts, _ := h.recorder.Totals(); counts["bad_api_key"] != 24 {
		t.Errorf("counted %v, want 24 of bad_api_key", counts)
	}
	hash := sha256.Sum256([]byte(h.all))
	h.refused(h.send("sha256:"+hex.EncodeToString(hash[:]), "GET", "/v1/server/users/ann", nil), wire.CodeUnauthorized, "unauthorized")
	h.refused(h.send(h.all, "GET", "/v1/server/nothing", nil), wire.CodeUnknownCommand, "unknown_command")
	h.refused(h.send(h.all, "PATCH", "/v1/server/users/ann", nil), wire.CodeUnknownCommand, "unknown_command")
}

// TestRemovedKeyIsRefused rotates a key: the old and the new one work at the same time, then the old one is removed.
func TestRemovedKeyIsRefused(t *testing.T) {
	h := newTestHost(t)
	h.known("ann")
	old := h.newKey("shop", hostapi.Read)
	made := h.newKey("shop", hostapi.Read)
	for _, key := range []string{old, made} {
		if u := ok[hostapi.UserReply](h, h.send(key, "GET", "/v1/server/users/ann", nil)); u.User.Name != "Name of ann" {
			t.Errorf("%+v", u)
		}
	}
	text, err := os.ReadFile(h.keysFile)
	noError(t, err)
	lines := strings.SplitAfter(string(text), "\n")
	noError(t, os.WriteFile(h.keysFile, []byte(lines[0]+lines[2]), 0o600))
	h.keys.Reload()
	h.refused(h.send(old, "GET", "/v1/server/users/ann", nil), wire.CodeUnauthorized, "unauthorized")
	ok[hostapi.UserReply](h, h.send(made, "GET", "/v1/server/users/ann", nil))
}

// TestEachOperationNeedsItsScope sends every operation with a key that has all scopes but the needed one and admin.
func TestEachOperationNeedsItsScope(t *testing.T) {
	h := newTestHost(t)
	for _, o := range hostapi.Operations() {
		var others []hostapi.Scope
		for _, s := range hostapi.Scopes() {
			if s != o.Scope && s != hostapi.Admin && (o.Scope != hostapi.Read || s != hostapi.Support) {
				others = append(others, s)
			}
		}
		key := h.newKey("but-"+o.Name, others...)
		before := len(h.acts())
		path := strings.NewReplacer("{", "", "}", "").Replace(o.Path)
		h.refused(h.send(key, o.Verb, path, nil, "Idempotency-Key", "k"), wire.CodeForbidden, "forbidden scope="+string(o.Scope))
		if len(h.acts()) != before {
			t.Errorf("%s: an act was stored for a request that was refused", o.Name)
		}
	}
}

// TestSupportReadsNoTextsWithoutAReason sends each operation with a key that has only the scope support. Those of the scope read must be allowed, those
// that show texts only with a reason, and those must be stored.
func TestSupportReadsNoTextsWithoutAReason(t *testing.T) {
	h := newTestHost(t)
	key := h.newKey("desk", hostapi.Support)
	for _, o := range hostapi.Operations() {
		if o.Scope == hostapi.Read && !o.Texts && o.Name != "get_packet" && holdsTexts(reflect.TypeOf(o.Reply)) { // get_packet leaves them out
			t.Errorf("the reply of %s holds texts of users: set Texts", o.Name)
		}
		path := strings.NewReplacer("{", "", "}", "").Replace(o.Path)
		before := len(h.acts())
		got := h.send(key, o.Verb, path, nil, "Idempotency-Key", "k")
		if allowed := got.status != http.StatusForbidden; allowed != (o.Scope == hostapi.Read) {
			t.Errorf("%s: status %d, and needs the scope %s", o.Name, got.status, o.Scope)
		}
		if asked := strings.Contains(string(got.body), "field=reason"); asked != o.Texts || len(h.acts()) != before {
			t.Errorf("%s, without a reason: asked for one: %t; shows texts: %t; %d acts", o.Name, asked, o.Texts, len(h.acts())-before)
		}
		if !o.Texts {
			continue
		}
		if got := h.send(key, o.Verb, path+"?reason=complaint+7", nil); strings.Contains(string(got.body), "field=reason") {
			t.Errorf("%s, with a reason: status %d", o.Name, got.status)
		}
		if act := h.act(o.Name); len(h.acts()) != before+1 || act.Reason != "complaint 7" {
			t.Errorf("%s: %d acts are stored, the last is %+v, want one with the reason", o.Name, len(h.acts())-before, act)
		}
	}
}

// holdsTexts reports whether values of the type have entries of rooms or held texts.
func holdsTexts(kind reflect.Type) bool {
	switch kind.Kind() {
	case reflect.Slice, reflect.Array, reflect.Pointer, reflect.Map:
		return holdsTexts(kind.Elem())
	case reflect.Struct:
		if kind == reflect.TypeFor[wire.Entry]() || kind == reflect.TypeFor[wire.HeldText]() {
			return true
		}
		for f := range kind.Fields() {
			if holdsTexts(f.Type) {
				return true
			}
		}
	}
	return false
}

// TestSupportSeesNoGreeting reads a packet with its greeting, by keys with and without the right to read texts.
func TestSupportSeesNoGreeting(t *testing.T) {
	h := newTestHost(t)
	h.known("u-ann")
	as := func(command string, body any) answer {
		return h.send(h.all, "POST", "/v1/server/as/u-ann/"+command, body)
	}
	ok[wire.AdjustReply](h, h.send(h.all, "POST", "/v1/server/users/u-ann/credit", `{"amount":1000}`, "Idempotency-Key", "money"))
	room := ok[wire.CreateRoomReply](h, as("create_room", `{"name":"Tea","key":"room","kind":"private"}`)).Room.ID
	packet := ok[wire.SendPacketReply](h, as("send_packet", map[string]any{"room": room, "key": "k", "mode": "equal", "total": 100, "count": 1, "greeting": "my secret"})).Packet.ID
	read, desk := h.newKey("reader", hostapi.Read), h.newKey("desk", hostapi.Support)
	for _, path := range []string{"packets/" + packet, "packets?room=" + room} {
		if got := h.send(read, "GET", "/v1/server/"+path, nil); !strings.Contains(string(got.body), "my secret") {
			t.Errorf("%s for the scope read: %s", path, got.body)
		}
		got := h.send(desk, "GET", "/v1/server/"+path, nil)
		if strings.Contains(string(got.body), "my secret") || !strings.Contains(string(got.body), packet) {
			t.Errorf("%s for the scope support: %s", path, got.body)
		}
	}
}

func TestKeyThatSendsTooMuchCostsOnlyItself(t *testing.T) {
	h := newTestHost(t)
	h.known("ann")
	secret := h.newLimitedKey("loud", 1, hostapi.Read)
	limited := answer{}
	for range 20 {
		if limited = h.send(secret, "GET", "/v1/server/users/ann", nil); limited.status != 200 {
			break
		}
	}
	h.refused(limited, wire.CodeRateLimited, "rate_limited retry_after_ms=")
	if limited.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	ok[hostapi.UserReply](h, h.send(h.all, "GET", "/v1/server/users/ann", nil))
}

// TestHostileBodies sends every operation bodies that it cannot want. Each is refused, and the server lives on.
func TestHostileBodies(t *testing.T) {
	h := newTestHostWith(t, "*")
	h.known("ann")
	key := h.newLimitedKey("hostile", 1_000_000, hostapi.Admin)
	bodies := []string{
		"null", "[]", "1", `"x"`, "{", "{}{}", `{"a":` + strings.Repeat("[", 20_000), `{"users":null,"members":null,"room":null,"user":null,"data":null}`,
		`{"users":[null],"members":[null],"text":{},"amount":1e400,"name":["x"]}`, `{"users":7,"members":{},"limit":"many","key":7,"amount":"x"}`,
		"\xff\xfe", `{"name":"` + "\xff" + `"}`, `{"` + "\x00" + `":1}`,
	}
	for _, o := range hostapi.Operations() {
		path := strings.NewReplacer("{user}", "ann", "{", "", "}", "").Replace(o.Path)
		for n, body := range bodies {
			a := h.send(key, o.Verb, path, body, "Idempotency-Key", fmt.Sprint("hostile-", n))
			if a.status >= 500 || a.status == http.StatusTooManyRequests || a.status != 200 && !bytes.Contains(a.body, []byte(`"error":{"code":`)) {
				t.Errorf("%s with %.40q: status %d %s", o.Name, body, a.status, a.body)
			}
		}
	}
	ok[hostapi.UserReply](h, h.send(h.all, "GET", "/v1/server/users/ann", nil))
}
