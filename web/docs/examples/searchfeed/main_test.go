package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

const events = `{"next":"end","more":false,"events":[
	{"type":"message.new","data":{"room":"r","user":"ann","entry":{"seq":1,"at":7,"kind":"text","body":{"text":"hello"}}}},
	{"type":"message.new","data":{"room":"r","user":"ann","entry":{"seq":2,"at":8,"kind":"text","body":{"recalled":true}}}},
	{"type":"message.edited","data":{"room":"r","user":"ann","entry":{"seq":3,"kind":"edit","body":{"target":1,"text":"bye"}}}},
	{"type":"message.recalled","data":{"room":"r","user":"ann","entry":{"seq":4,"kind":"recall","body":{"target":1}}}},
	{"type":"message.reaction","data":{"room":"r","user":"ann","entry":{"seq":5,"kind":"react","body":{"target":1}}}},
	{"type":"room.deleted","data":{"room":"r"}}]}`

// TestFeed plays hongbao and Meilisearch. The feed begins with the oldest event, writes what each event says, and stores its position behind them.
func TestFeed(t *testing.T) {
	var mu sync.Mutex
	var got []string // guarded by mu
	ctx, stop := context.WithCancel(t.Context())
	serve := func(answer func(call string) (int, string)) *httptest.Server {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			call := strings.TrimSpace(fmt.Sprint(r.Method, " ", r.URL.Path, " ", r.URL.Query().Get("after"), string(body)))
			mu.Lock()
			got = append(got, call)
			mu.Unlock()
			status, text := answer(call)
			if key := r.Header.Get("Authorization"); (key == "Bearer secret") != strings.HasPrefix(r.URL.Path, "/v1/") {
				t.Errorf("%s came with the authorization %q", call, key)
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, text)
		}))
		t.Cleanup(s.Close)
		return s
	}
	hongbao := serve(func(call string) (int, string) {
		switch call {
		case "GET /v1/server/consumers/search":
			return 404, `{}`
		case "GET /v1/server/events oldest":
			return 200, events
		case "GET /v1/server/events end":
			stop()
		}
		return 200, `{}`
	})
	engine := serve(func(string) (int, string) { return 202, `{"taskUid":1}` })
	if err := (feed{hongbao.URL, "secret", engine.URL + "/indexes/messages"}).run(ctx); err == nil {
		t.Error("the feed ended without an error")
	}
	want := []string{
		`PUT /indexes/messages/settings/filterable-attributes ["room","user","at"]`,
		`GET /v1/server/consumers/search`,
		`GET /v1/server/events oldest`,
		`POST /indexes/messages/documents [{"id":"r-1","room":"r","user":"ann","seq":1,"at":7,"text":"hello"}]`,
		`PUT /indexes/messages/documents [{"id":"r-1","text":"bye"}]`,
		`DELETE /indexes/messages/documents/r-1`,
		`POST /indexes/messages/documents/delete {"filter":"room = \"r\""}`,
		`PUT /v1/server/consumers/search {"after":"end"}`,
		`GET /v1/server/events end`,
	}
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(got, want) {
		t.Errorf("the requests were\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
