package server_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/store/eventlog"
	"hongbao/web/host/events"
	"hongbao/web/host/hostapi"
	"hongbao/web/wire"
)

// get sends a request that reads, and decodes the reply.
func get[Reply any](h *testHost, path string) Reply {
	h.Helper()
	return ok[Reply](h, h.send(h.all, "GET", "/v1/server/"+path, nil))
}

// said returns the texts of the events.
func said(list []hostapi.Event) string {
	var texts []string
	for _, e := range list {
		if e.Type == "message.new" {
			texts = append(texts, e.Data.Entry.Key)
		}
	}
	return strings.Join(texts, " ")
}

func TestHostReadsEvents(t *testing.T) {
	h := newTestHost(t)
	h.known("ann")
	as := func(command, body string) answer { return h.send(h.all, "POST", "/v1/server/as/ann/"+command, body) }
	room := ok[wire.CreateRoomReply](h, as("create_room", `{"name":"Tea","kind":"public","key":"r"}`)).Room.ID
	say := func(key string) {
		ok[wire.SendReply](h, as("send", fmt.Sprintf(`{"room":%q,"key":%q,"text":"hello"}`, room, key)))
	}
	for n := range 5 {
		say(fmt.Sprint("k", n))
	}

	var all []hostapi.Event
	for after, more := "oldest", true; more; {
		page := get[hostapi.EventsReply](h, "events?limit=2&kinds=message.*&after="+after)
		all, after, more = append(all, page.Events...), page.Next, page.More
	}
	if said(all) != "k0 k1 k2 k3 k4" {
		t.Errorf("the events hold %q", said(all))
	}
	if page := get[hostapi.EventsReply](h, "events?after=newest"); len(page.Events) != 0 || page.Next == "" {
		t.Errorf("after the newest: %+v", page)
	}
	for path, want := range map[string]string{
		"events?kinds=nothing.*": "bad_request field=kinds",
		"events?limit=1001":      "bad_request field=limit",
		"events?wait_s=31":       "bad_request field=wait_s",
		"events?after=forged":    "bad_request field=after",
		"events?consumer=nobody": "not_found",
		"consumers/nobody":       "not_found",
		"consumers/No+Name":      "bad_request field=consumer",
	} {
		if a := h.send(h.all, "GET", "/v1/server/"+path, nil); a.status < 400 || !strings.Contains(string(a.body), want) {
			t.Errorf("%s: %d %s, want %q", path, a.status, a.body, want)
		}
	}
}

// TestHostWaitsForEvents asks for events before there is one.
func TestHostWaitsForEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTestHost(t)
		h.known("ann")
		as := func(command, body string) answer { return h.send(h.all, "POST", "/v1/server/as/ann/"+command, body) }
		room := ok[wire.CreateRoomReply](h, as("create_room", `{"name":"Tea","kind":"public","key":"r"}`)).Room.ID
		began := time.Now()
		got := make(chan answer)
		next := get[hostapi.EventsReply](h, "events?after=newest").Next
		go func() { got <- h.send(h.all, "GET", "/v1/server/events?wait_s=20&after="+next, nil) }()
		time.Sleep(time.Second) // the request waits
		ok[wire.SendReply](h, as("send", fmt.Sprintf(`{"room":%q,"key":"late","text":"hello"}`, room)))
		if page := ok[hostapi.EventsReply](h, <-got); said(page.Events) != "late" || time.Since(began) > 2*time.Second {
			t.Errorf("after %v it got %q, want late at once", time.Since(began), said(page.Events))
		}
		if page := get[hostapi.EventsReply](h, "events?wait_s=1&after="+get[hostapi.EventsReply](h, "events?after=newest").Next); len(page.Events) != 0 {
			t.Errorf("without an event it got %+v", page)
		}
		time.Sleep(time.Second) // until the poll has ended
	})
}

func TestConsumerPositions(t *testing.T) {
	h := newTestHost(t)
	h.known("ann")
	ok[wire.AdjustReply](h, h.send(h.all, "POST", "/v1/server/users/ann/credit", `{"amount":1}`, "Idempotency-Key", "one"))
	put := func(key, consumer, after string) answer {
		return h.send(key, "PUT", "/v1/server/consumers/"+consumer, fmt.Sprintf(`{"after":%q}`, after))
	}
	ok[hostapi.ConsumerReply](h, put(h.all, "search", "oldest"))
	page := get[hostapi.EventsReply](h, "events?consumer=search")
	if len(page.Events) != 1 || page.Events[0].Type != "transfer.credit" {
		t.Fatalf("events %+v, want the credit", page.Events)
	}
	if c := ok[hostapi.ConsumerReply](h, put(h.all, "search", page.Next)).Consumer; c.Name != "search" || c.After != page.Next {
		t.Errorf("stored %+v, want the position %s", c, page.Next)
	}
	if c := get[hostapi.ConsumerReply](h, "consumers/search").Consumer; c.After != page.Next {
		t.Errorf("the position is %s, want %s", c.After, page.Next)
	}
	if page := get[hostapi.EventsReply](h, "events?consumer=search"); len(page.Events) != 0 {
		t.Errorf("it gets %+v again", page.Events)
	}
	h.refused(put(h.all, "search", "forged"), wire.CodeBadRequest, "bad_request field=after")
	chat := h.newKey("chat-only", hostapi.Chat)
	ok[hostapi.ConsumerReply](h, put(chat, "mine", "newest"))
	h.refused(put(chat, events.WebhookConsumer, "newest"), wire.CodeForbidden, "forbidden scope=admin")
	remove := func(consumer string) answer { return h.send(chat, "DELETE", "/v1/server/consumers/"+consumer, nil) }
	ok[hostapi.DeleteConsumerReply](h, remove("mine"))
	h.refused(remove("mine"), wire.CodeNotFound, "not_found")
	h.refused(remove("No+Name"), wire.CodeBadRequest, "bad_request field=consumer")
	h.refused(remove(events.WebhookConsumer), wire.CodeForbidden, "forbidden consumer=webhook")
}

// TestParkedEvents lists and replays an event that the webhook has refused for long.
func TestParkedEvents(t *testing.T) {
	h := newTestHost(t)
	h.known("ann")
	if parked := get[hostapi.ParkedReply](h, "webhook/parked"); len(parked.Parked) != 0 || parked.Held != 0 {
		t.Errorf("without a webhook %+v are parked", parked)
	}
	h.refused(h.send(h.all, "POST", "/v1/server/webhook/replay", `{"no":7}`), wire.CodeNotFound, "not_found field=no")
	ok[wire.AdjustReply](h, h.send(h.all, "POST", "/v1/server/users/ann/credit", `{"amount":1}`, "Idempotency-Key", "one"))
	batch, err := h.store.Events(t.Context(), eventlog.Query{After: must(h.store.OldestEvent(t.Context())), Kinds: must(eventlog.ParseKinds([]string{"transfer.*"})), Limit: 1})
	if err != nil || len(batch.Events) != 1 {
		t.Fatalf("%+v, %v", batch, err)
	}
	e, now := batch.Events[0], time.Now()
	must(h.store.Lease(t.Context(), events.WebhookConsumer, "i", time.Minute, now))
	held := []eventlog.Hold{{Key: e.Key(), At: e.Position, FirstAt: now, NextAt: now, Tries: 30, Parked: true, Why: "500"}}
	noError(t, h.store.Advance(t.Context(), eventlog.Consumer{Name: events.WebhookConsumer, After: batch.Next.String(), UpdatedAt: now}, "", "i", held))
	parked := get[hostapi.ParkedReply](h, "webhook/parked").Parked
	if len(parked) != 1 || parked[0].Event == nil || parked[0].Event.ID != e.ID || parked[0].Why != "500" || parked[0].Tries != 30 {
		t.Fatalf("parked %+v, want the credit", parked)
	}
	ok[hostapi.ReplayParkedReply](h, h.send(h.all, "POST", "/v1/server/webhook/replay", fmt.Sprintf(`{"no":%d}`, parked[0].No)))
	if left := get[hostapi.ParkedReply](h, "webhook/parked"); len(left.Parked) != 0 || left.Held != 1 {
		t.Errorf("after the replay: %+v, want it held to be sent again", left)
	}
	due, err := h.store.DueHolds(t.Context(), events.WebhookConsumer, time.Now(), 9)
	if err != nil || len(due) != 1 || due[0].Tries != 0 {
		t.Errorf("due %+v, %v; want it at once", due, err)
	}
}

func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}
