package server_test

import (
	"maps"
	"net/url"
	"slices"
	"testing"
	"time"

	"hongbao/web/host/hostapi"
	"hongbao/web/wire"
)

// TestRefusedGrabsAreListed refuses grabs for several reasons, and lists them by user and by packet.
func TestRefusedGrabsAreListed(t *testing.T) {
	h := newTestHost(t)
	h.known("u-ann", "bob", "cyn", "dan", "eve")
	as := func(user, command string, body any) answer {
		return h.send(h.all, "POST", "/v1/server/as/"+user+"/"+command, body)
	}
	ok[wire.AdjustReply](h, h.send(h.all, "POST", "/v1/server/users/u-ann/credit", `{"amount":1000}`, "Idempotency-Key", "money"))
	room := ok[wire.CreateRoomReply](h, as("u-ann", "create_room", `{"name":"Tea","key":"room","kind":"private","members":["bob","cyn","dan"]}`)).Room.ID
	send := func(key string, more map[string]any) string {
		body := map[string]any{"room": room, "key": key, "mode": "equal", "total": 100, "count": 1}
		maps.Copy(body, more)
		return ok[wire.SendPacketReply](h, as("u-ann", "send_packet", body)).Packet.ID
	}
	plain, locked := send("plain", nil), send("locked", map[string]any{"passphrase": "tea"})
	grab := func(user, packet, passphrase string) answer {
		return as(user, "grab", map[string]string{"packet": packet, "passphrase": passphrase})
	}
	ok[wire.GrabReply](h, grab("bob", plain, ""))
	began := time.Now().UnixMilli()
	for range 3 {
		ok[wire.GrabReply](h, grab("cyn", plain, ""))
	}
	ok[wire.GrabReply](h, grab("dan", plain, ""))
	ok[wire.GrabReply](h, grab("bob", plain, "")) // bob has a share: that is no refusal
	h.refused(grab("cyn", locked, "wrong"), wire.CodeWrongPassphrase, "")
	h.refused(grab("eve", plain, ""), wire.CodeNotFound, "") // eve is no member, and learns nothing
	h.refused(grab("cyn", "no-such-packet", ""), wire.CodeNotFound, "")
	for stored := int64(0); stored < 3; stored, _ = h.trail.Refusals() {
		<-time.After(time.Millisecond)
	}
	list := func(query string) (all []string) {
		for _, r := range ok[hostapi.RefusalsReply](h, h.send(h.all, "GET", "/v1/server/refusals?"+query, nil)).Refusals {
			if r.At < began || r.At > time.Now().UnixMilli() {
				t.Errorf("%+v is of another time than the grabs", r)
			}
			all = append(all, r.User+" "+r.Packet+" "+r.Why)
		}
		return all
	}
	if got, want := list("packet="+plain), []string{"cyn " + plain + " empty", "dan " + plain + " empty"}; !slices.Equal(got, want) {
		t.Errorf("at the packet %q, want %q", got, want)
	}
	if got := list("user=cyn"); len(got) != 2 || got[0] != "cyn "+locked+" wrong_passphrase" || got[1] != "cyn "+plain+" empty" {
		t.Errorf("of cyn: %q", got)
	}
	if got := append(list("user=bob"), list("user=eve")...); len(got) > 0 {
		t.Errorf("of bob and eve: %q", got)
	}
	for _, query := range []string{"", "user=bob&packet=" + plain, "user=a%20b", "user=bob&next=x", "user=bob&limit=1001"} {
		h.refused(h.send(h.all, "GET", "/v1/server/refusals?"+query, nil), wire.CodeBadRequest, "")
	}
}

// TestEventsOfSocketsAreListed lists what happened to sockets of a user, page by page.
func TestEventsOfSocketsAreListed(t *testing.T) {
	h := newTestHost(t)
	h.known("bob", "cyn")
	h.trail.SocketOpened("bob", "s1")
	h.trail.SocketOpened("cyn", "s2")
	h.trail.SocketEnded("bob", "s1", wire.CloseTooSlow, false)
	for stored := int64(0); stored < 3; stored, _ = h.trail.Sockets() {
		<-time.After(time.Millisecond)
	}
	var got []hostapi.SocketEvent
	for next := "/v1/server/users/bob/sockets?limit=1"; ; {
		page := ok[hostapi.SocketsReply](h, h.send(h.all, "GET", next, nil))
		if got = append(got, page.Sockets...); page.Next == "" || len(got) > 2 {
			break
		}
		next = "/v1/server/users/bob/sockets?limit=1&next=" + url.QueryEscape(page.Next)
	}
	if len(got) != 2 || got[0].What != "closed" || got[0].Code != wire.CloseTooSlow || got[0].Socket != "s1" || got[1].What != "opened" || got[1].At > got[0].At {
		t.Errorf("of bob: %+v, want a socket that was closed because it was too slow", got)
	}
	h.refused(h.send(h.all, "GET", "/v1/server/users/bob/sockets?next=x", nil), wire.CodeBadRequest, "")
}
