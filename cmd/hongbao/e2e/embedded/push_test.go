package embedded

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/enginetest"
	"hongbao/web/webtest"
	"hongbao/web/wire"
)

// TestLeakedPushKey replaces the key of Web Push, as web/docs/runbooks.md says. The push service, like real ones, refuses whoever has not the key
// that a subscription was made with. So the user is told nothing until the page has subscribed anew.
func TestLeakedPushKey(t *testing.T) {
	enginetest.Nightly(t, "whole")
	t.Parallel()
	var told, refused atomic.Int64
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.URL.Query().Get("key")
		if !strings.HasSuffix(r.Header.Get("Authorization"), "k="+key) {
			refused.Add(1)
			w.WriteHeader(http.StatusForbidden)
			return
		}
		told.Add(1)
		w.WriteHeader(http.StatusCreated)
	}))
	defer service.Close()
	dir := t.TempDir()
	s := e2e.Start(t, e2e.Build(t, ""), dir, "127.0.0.1:0",
		"HONGBAO_PUSH_CONTACT=ops@example.com", "HONGBAO_PUSH_ALLOW=127.0.0.1")
	post := func(user wire.GuestReply, method string, request, reply any) {
		t.Helper()
		status, answer, err := s.Post(user.Token, "commands/"+method, request)
		if err == nil {
			err = json.Unmarshal(answer, reply)
		}
		if err != nil || status != http.StatusOK {
			t.Fatalf("%s: %d %s, %v", method, status, answer, err)
		}
	}
	ann, bob := s.Guest("Ann"), s.Guest("Bob")
	keys := webtest.NewPushKeys(t)
	// subscribe does what the page does when it is opened, and returns the server's key.
	subscribe := func() (key string) {
		var reply wire.PushKeyReply
		post(bob, "push_key", wire.PushKeyRequest{}, &reply)
		p256dh, auth := keys.Texts()
		post(bob, "subscribe_push", wire.SubscribePushRequest{Endpoint: service.URL + "/bob?key=" + reply.Key, P256dh: p256dh, Auth: auth}, &wire.SubscribePushReply{})
		return reply.Key
	}
	rooms := 0
	packet := func() { // in a room of its own: of one room a user is told once in a while
		rooms++
		var room wire.CreateRoomReply
		post(ann, "create_room", wire.CreateRoomRequest{Key: fmt.Sprint("room", rooms), Name: "Tea", Kind: "public"}, &room)
		post(bob, "join", wire.JoinRequest{Room: room.Room.ID}, &wire.JoinReply{})
		post(ann, "send_packet", wire.SendPacketRequest{Room: room.Room.ID, Key: fmt.Sprint("packet", rooms), Total: 10, Count: new(1)}, &wire.SendPacketReply{})
	}
	await := func(what string, counted *atomic.Int64) {
		t.Helper()
		before := counted.Load()
		packet()
		e2e.Eventually(t, 20*time.Second, what, func() bool { return counted.Load() > before })
	}
	leaked := subscribe()
	await("Bob is told of a packet", &told)

	s.Stop()
	e2e.NoError(t, os.Remove(filepath.Join(dir, "push-key")))
	s = s.Restart()
	toldBefore := told.Load()
	await("the push service refuses the new key for the old subscription", &refused)
	if n := told.Load(); n != toldBefore {
		t.Errorf("Bob was told %d times by a key that has leaked", n-toldBefore)
	}
	if key := subscribe(); key == leaked {
		t.Error("the server has the key that has leaked")
	}
	await("Bob is told after the page was opened again", &told)
}
