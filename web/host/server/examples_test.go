package server_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/chat/files"
	"hongbao/redpacket"
	"hongbao/store/eventlog"
	"hongbao/web/host/events"
	"hongbao/web/host/hostapi"
	"hongbao/web/spec/spectest"
	"hongbao/web/wire"
)

var update = flag.Bool("update", false, "record the answers of the server API again: after that, go generate ./web/... puts them into the documents")

// otherStatus holds the operations whose example is refused in the fixture, with the status. All others are answered with 200.
var otherStatus = map[string]int{
	"as_join_link":       404, // the code is not one of the fixture
	"as_answer_text":     404, // no text waits in the fixture
	"system_answer_text": 404,
	"as_cancel_packet":   409, // bob has grabbed a share
}

// TestExamplesOfTheServerAPI sends the example of every operation to the server. The answer must be as the document says. The
// documents show the recorded answers.
func TestExamplesOfTheServerAPI(t *testing.T) {
	h := newTestHostWith(t, "*")
	d := spectest.ServerOpenAPI(t)
	for _, o := range hostapi.Operations() {
		described, ok := d.At("#/paths/" + strings.ReplaceAll(o.Path, "/", "~1") + "/" + strings.ToLower(o.Verb)).(spectest.Object)
		if !ok || described["operationId"] != o.Name {
			t.Errorf("%s is not in the document: run go generate ./web/...", o.Name)
			continue
		}
		scene := h.newScene(o)
		path, body := scene.request(o, described)
		a := h.send(h.all, o.Verb, path, body, "Idempotency-Key", "example-"+o.Name)
		want := 200
		if status, ok := otherStatus[o.Name]; ok {
			want = status
		}
		if a.status != want {
			t.Errorf("%s: %s %s with %v: status %d %s, want %d", o.Name, o.Verb, path, body, a.status, a.body, want)
			continue
		}
		var reply any
		noError(t, json.Unmarshal(a.body, &reply))
		if o.Command == "" && o.Group != "documents" && a.status == 200 {
			recorded(t, filepath.Join("replies", o.Name), a.body, reply)
		}
		if *update {
			continue
		}
		schema := d.At(fmt.Sprintf("#/paths/%s/%s/responses/%d/content/application~1json/schema", strings.ReplaceAll(o.Path, "/", "~1"), strings.ToLower(o.Verb), a.status))
		if schema == nil {
			t.Errorf("%s: the document has no status %d", o.Name, a.status)
		} else if bad := d.Mismatch(schema.(spectest.Object), reply); bad != "" {
			t.Errorf("%s: the answer does not match the document: %s\n%s", o.Name, bad, a.body)
		}
	}
}

// recorded compares the fields of an answer with those of the recorded one, which it writes if the flag update is set.
func recorded(t *testing.T, name string, body []byte, answer any) {
	t.Helper()
	file := filepath.Join("testdata", name+".json")
	text, err := os.ReadFile(file)
	var old any
	if err == nil {
		err = json.Unmarshal(text, &old)
	}
	now := fields("", answer, map[string]bool{})
	missing := slices.DeleteFunc(slices.Collect(maps.Keys(fields("", old, map[string]bool{}))), func(f string) bool { return now[f] })
	if err == nil && len(missing) == 0 {
		return
	}
	if !*update {
		t.Errorf("%s: the recorded answer has the fields %v, which this one lacks (%v): run go test ./web/host/server -run Examples -update", file, missing, err)
		return
	}
	var indented bytes.Buffer
	noError(t, json.Indent(&indented, body, "", "  "))
	noError(t, os.MkdirAll(filepath.Dir(file), 0o750))
	noError(t, os.WriteFile(file, append(indented.Bytes(), '\n'), 0o600))
}

// fields returns the paths of all fields of a JSON value. The elements of a list share their paths.
func fields(at string, v any, all map[string]bool) map[string]bool {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			all[at+"."+name] = true
			fields(at+"."+name, value, all)
		}
	case []any:
		for _, value := range v {
			fields(at, value, all)
		}
	}
	return all
}

// scene is a room with what the examples name. By its fields, the names of the examples become those that exist.
type scene struct {
	names   map[string]string
	numbers map[float64]int64
}

// newScene makes a room for an operation, in which u-ann has sent a text and a packet, of which u-bob has grabbed a share.
func (h *testHost) newScene(o hostapi.Operation) scene {
	h.Helper()
	h.known("ann", "bob", "u-ann", "u-bob", "u-eve", "u-mei")
	as := func(user, command, body string, values ...any) answer {
		return h.send(h.all, "POST", "/v1/server/as/"+user+"/"+command, fmt.Sprintf(body, values...))
	}
	ok[wire.AdjustReply](h, h.send(h.all, "POST", "/v1/server/users/u-ann/credit", `{"amount":10000}`, "Idempotency-Key", "scene-"+o.Name))
	ok[wire.AdjustReply](h, h.send(h.all, "POST", "/v1/server/users/ann/credit", `{"amount":10000}`, "Idempotency-Key", "scene-"+o.Name))
	ok[wire.UnblockReply](h, as("u-ann", "unblock", `{"user":"u-bob"}`)) // an example blocks bob
	room := ok[wire.CreateRoomReply](h, as("u-ann", "create_room", `{"name":"Tea","key":%q,"kind":"private","members":["u-bob","u-mei"]}`, "room-"+o.Name)).Room.ID
	if o.Name == "as_join" || o.Name == "as_join_link" {
		ok[wire.LeaveReply](h, as("u-mei", "leave", `{"room":%q}`, room))
	}
	say := as
	if o.System {
		say = func(_, command, body string, values ...any) answer {
			return h.send(h.all, "POST", "/v1/server/system/"+command, fmt.Sprintf(body, values...))
		}
	}
	seq := ok[wire.SendReply](h, say("u-ann", "send", `{"room":%q,"key":%q,"text":"hello"}`, room, "text-"+o.Name)).Seq
	link := ok[wire.CreateLinkReply](h, as("u-ann", "create_link", `{"room":%q}`, room)).Link.ID
	packet := ok[wire.SendPacketReply](h, as("u-ann", "send_packet", `{"room":%q,"key":%q,"mode":"equal","total":300,"count":3}`, room, "packet-"+o.Name)).Packet.ID
	ok[wire.GrabReply](h, as("u-bob", "grab", `{"packet":%q}`, packet))
	if o.Name == "get_campaign" {
		packet = h.drawn(as, room)
	}
	ok[hostapi.ConsumerReply](h, h.send(h.all, "PUT", "/v1/server/consumers/search", `{"after":"oldest"}`))
	file := h.uploaded(room, "u-ann")
	made := scene{names: map[string]string{"r-1": room, "f-1": file, "p-1": packet, "l-1": link, "report-1": h.report(room, seq, "report-"+o.Name)}, numbers: map[float64]int64{41: seq, 42: seq}}
	if o.Name == "as_appeal" {
		ok[hostapi.ReportReply](h, h.send(h.all, "POST", "/v1/server/reports/"+made.names["report-1"]+"/resolve", `{"outcome":"acted","cause":"spam"}`))
	}
	if o.Name == "get_audit" {
		h.audited()
	}
	if strings.Contains(o.Name, "parked") {
		made.numbers[7] = h.park()
	}
	h.known("gone")
	if o.Name == "get_erasure" {
		ok[hostapi.ErasureReply](h, h.send(h.all, "POST", "/v1/server/users/gone/erase?reason=asked", `{"texts":"erase"}`))
	}
	if o.Name == "list_legal_holds" {
		ok[hostapi.LegalHoldReply](h, h.send(h.all, "PUT", "/v1/server/legal_holds/user/ann?reason=case+5", nil))
	}
	if strings.Contains(o.Name, "quarantine") {
		made.numbers[7] = h.quarantine(packet, "u-mei", 1)
	}
	return made
}

// drawn returns a draw that has ended, with a winner among two participants.
func (h *testHost) drawn(as func(user, command, body string, values ...any) answer, room string) string {
	h.Helper()
	packet := ok[wire.SendPacketReply](h, as("u-ann", "send_packet", `{"room":%q,"key":"draw","total":300,"count":1,"window_s":600}`, room)).Packet.ID
	ok[wire.GrabReply](h, as("u-bob", "grab", `{"packet":%q}`, packet))
	ok[wire.GrabReply](h, as("u-mei", "grab", `{"packet":%q}`, packet))
	ref := redpacket.Ref{ID: packet, Partition: redpacket.NoPartition}
	d := must(h.store.Draw(h.Context(), redpacket.DrawRequest{Ref: ref, Why: redpacket.CloseEarly}))
	must(h.store.End(h.Context(), redpacket.Close{Ref: ref, Reason: redpacket.Expired, Grants: d.Winners(), At: time.Now(), EntryID: "drawn"}))
	return packet
}

// audited asks for an audit, and waits until the instance has made it.
func (h *testHost) audited() {
	h.Helper()
	must(h.packets.AskAudit(h.Context(), false))
	for {
		_, err := h.packets.LastAudit(h.Context())
		if err == nil {
			return
		}
		if !errors.Is(err, chat.ErrNotFound) {
			h.Fatal(err)
		}
		<-time.After(time.Millisecond)
	}
}

// uploaded returns a file that the user has uploaded to the room.
func (h *testHost) uploaded(room, user string) string {
	h.Helper()
	const content = "a report"
	u := chat.User{ID: user}
	f := must(h.files.Begin(h.Context(), u, files.Upload{Room: room, Kind: chat.OtherFile, Name: "report.txt", Size: int64(len(content))}))
	must(h.files.Receive(h.Context(), files.Transfer{
		User: u, Room: room, File: f.ID, Content: strings.NewReader(content), More: func() {},
	}))
	return f.ID
}

// quarantine puts a claim into quarantine that can be paid, and returns its number.
func (h *testHost) quarantine(packet, user string, share int) int64 {
	h.Helper()
	claims := []redpacket.Claim{{Ref: redpacket.Ref{ID: packet}, Share: share, User: user, At: time.Now()}}
	if err := h.store.Quarantine(h.Context(), claims, "row fails repeatedly"); err != nil {
		h.Fatal(err)
	}
	all := must(h.store.QuarantinedAfter(h.Context(), 0, 1000))
	return all[len(all)-1].ID
}

// park parks an event of the webhook, and returns its number.
func (h *testHost) park() int64 {
	h.Helper()
	batch, err := h.store.Events(h.Context(), eventlog.Query{After: must(h.store.OldestEvent(h.Context())), Kinds: must(eventlog.ParseKinds([]string{"transfer.*"})), Limit: 1})
	if err != nil || len(batch.Events) != 1 {
		h.Fatalf("%+v, %v", batch, err)
	}
	e, now := batch.Events[0], time.Now()
	must(h.store.Lease(h.Context(), events.WebhookConsumer, "i", time.Minute, now))
	held := []eventlog.Hold{{Key: e.Key(), At: e.Position, FirstAt: now, NextAt: now, Tries: 30, Parked: true, Why: "500"}}
	before := ""
	if c, err := h.store.Consumer(h.Context(), events.WebhookConsumer); err == nil {
		before = c.After
	}
	if err := h.store.Advance(h.Context(), eventlog.Consumer{Name: events.WebhookConsumer, After: batch.Next.String(), UpdatedAt: now}, before, "i", held); err != nil {
		h.Fatal(err)
	}
	return must(h.store.ParkedHolds(h.Context(), events.WebhookConsumer, 0, 1))[0].No
}

// request returns the path, with its query, and the body of an operation's example in the document.
func (s scene) request(o hostapi.Operation, described spectest.Object) (path string, body any) {
	path = o.Path
	query := url.Values{}
	for _, p := range spectest.List(described["parameters"]) {
		parameter := p.(spectest.Object)
		name, _ := parameter["name"].(string)
		value, given := parameter["example"]
		switch {
		case !given:
		case parameter["in"] == "path":
			text := fmt.Sprint(s.real(value))
			if name == hostapi.For && o.Command != "" {
				text = "u-ann"
			}
			if o.Name == "as_join" || o.Name == "as_join_link" {
				text = "u-mei"
			}
			if o.Name == "as_report" { // u-ann has sent the entry
				text = "u-bob"
			}
			path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(text))
		default:
			query.Set(name, fmt.Sprint(s.real(value)))
		}
	}
	if o.Reasoned {
		query.Set("reason", "ticket 4711")
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	if content, ok := described["requestBody"].(spectest.Object); ok {
		body = s.real(content["content"].(spectest.Object)["application/json"].(spectest.Object)["example"])
	}
	return path, body
}

// real returns the value with the names that exist.
func (s scene) real(v any) any {
	switch v := v.(type) {
	case string:
		if name, ok := s.names[v]; ok {
			return name
		}
	case float64:
		if n, ok := s.numbers[v]; ok {
			return n
		}
	case map[string]any:
		for name, value := range v {
			v[name] = s.real(value)
		}
	case []any:
		for i := range v {
			v[i] = s.real(v[i])
		}
	}
	return v
}

// TestExamplesOfEvents makes an event of every kind happen, and compares what the host reads with the documents.
func TestExamplesOfEvents(t *testing.T) {
	h := newTestHostWith(t, "*")
	h.everyEvent()
	first := map[string]hostapi.Event{}
	for after, more := "oldest", true; more; {
		page := get[hostapi.EventsReply](h, "events?limit=1000&after="+after)
		for _, e := range page.Events {
			if _, known := first[e.Type]; !known {
				first[e.Type] = e
			}
		}
		after, more = page.Next, page.More
	}
	documents := map[string]spectest.Document{"openapi": spectest.ServerOpenAPI(t), "asyncapi": spectest.ServerAsyncAPI(t)}
	for _, kind := range eventlog.AllKinds() {
		e, ok := first[kind]
		if !ok {
			t.Errorf("everyEvent makes no event %s", kind)
			continue
		}
		text, err := wire.Marshal(e)
		noError(t, err)
		var event any
		noError(t, json.Unmarshal(text, &event))
		recorded(t, filepath.Join("events", kind), text, event)
		if *update {
			continue
		}
		for name, d := range documents {
			if bad := d.Mismatch(d.At("#/components/schemas/Event").(spectest.Object), event); bad != "" {
				t.Errorf("%s: %s does not match: %s\n%s", name, kind, bad, text)
			}
		}
	}
}

// everyEvent makes an event of every kind happen.
func (h *testHost) everyEvent() {
	h.Helper()
	h.known("ann", "bob")
	as := func(user, command, body string, values ...any) answer {
		return h.send(h.all, "POST", "/v1/server/as/"+user+"/"+command, fmt.Sprintf(body, values...))
	}
	room := ok[wire.CreateRoomReply](h, as("ann", "create_room", `{"name":"Tea","kind":"public","key":"r","members":["bob"]}`)).Room.ID
	ok[wire.AdjustReply](h, h.send(h.all, "POST", "/v1/server/users/ann/credit", `{"amount":10000,"note":"order 17"}`, "Idempotency-Key", "credit"))
	ok[wire.AdjustReply](h, h.send(h.all, "POST", "/v1/server/users/ann/debit", `{"amount":2500,"note":"order 18"}`, "Idempotency-Key", "debit"))
	seq := ok[wire.SendReply](h, as("ann", "send", `{"room":%q,"key":"k","text":"hello"}`, room)).Seq
	ok[wire.ReactReply](h, as("bob", "react", `{"room":%q,"seq":%d,"emoji":"🧧","on":true}`, room, seq))
	ok[wire.SeqReply](h, as("ann", "edit", `{"room":%q,"seq":%d,"text":"hello!"}`, room, seq))
	ok[wire.SeqReply](h, as("ann", "recall", `{"room":%q,"seq":%d}`, room, seq))
	sent := ok[wire.SendPacketReply](h, as("ann", "send_packet", `{"room":%q,"key":"p","mode":"equal","total":300,"count":3}`, room))
	packet := sent.Packet.ID
	h.missed("bob", room, sent.Seq)
	h.reversed("ann", room)
	ok[wire.GrabReply](h, as("bob", "grab", `{"packet":%q}`, packet))
	report := h.report(room, sent.Seq, "report")
	ok[hostapi.ReportReply](h, h.send(h.all, "POST", "/v1/server/reports/"+report+"/resolve", `{"outcome":"dismissed","cause":"no_breach"}`))
	ok[wire.AppealReply](h, as("bob", "appeal", `{"report":%q,"text":"look again"}`, report))
	ok[wire.MuteReply](h, as("ann", "mute", `{"room":%q,"user":"bob","seconds":60}`, room))
	ok[wire.LeaveReply](h, as("bob", "leave", `{"room":%q}`, room))
	ok[wire.UpdateRoomReply](h, as("ann", "update_room", `{"room":%q,"name":"Green tea"}`, room))
	ok[wire.DeleteRoomReply](h, as("ann", "delete_room", `{"room":%q}`, room)) // closes the packet, with a refund
	if err := h.rooms.Revoke(h.Context(), "bob"); err != nil {
		h.Fatal(err)
	}
	if _, err := h.rooms.PutUser(h.Context(), chat.UserChange{User: "ann", Name: new("Anna")}); err != nil {
		h.Fatal(err)
	}
	ok[hostapi.UserReply](h, h.send(h.all, "POST", "/v1/server/users/bob/suspend", nil))
	ok[hostapi.UserReply](h, h.send(h.all, "POST", "/v1/server/users/bob/reinstate", nil))
	h.known("gone")
	h.erase("gone", "erase")
	for deadline := time.Now().Add(time.Minute); ; <-time.After(10 * time.Millisecond) {
		if page := get[hostapi.EventsReply](h, "events?kinds=packet.closed&after=oldest"); len(page.Events) > 0 {
			return
		} else if time.Now().After(deadline) {
			h.Fatal("the packet of the deleted room was not closed in 20 s")
		}
	}
}

// reversed opens a funding and makes it void, as for a packet that is refused after the host has taken the money.
func (h *testHost) reversed(user, room string) {
	h.Helper()
	f, err := h.store.OpenFunding(h.Context(), redpacket.Funding{ID: chat.NewID(time.Now()), User: user, Room: room, Key: "k1", Total: 1000, AskedAt: time.Now()})
	if err == nil {
		_, err = h.store.ReverseFunding(h.Context(), redpacket.Funded{Funding: f, Amount: 1000, HostKey: "debit-77"}, time.Now())
	}
	if err != nil {
		h.Fatal(err)
	}
}

// missed writes that the user has missed the entry, as the look for absent users does.
func (h *testHost) missed(user, room string, seq int64) {
	h.Helper()
	_, err := h.store.Lease(h.Context(), eventlog.AbsentConsumer, "i", time.Minute, time.Now())
	if err == nil {
		err = h.store.TellAbsences(h.Context(), eventlog.AbsenceLook{
			Consumer: eventlog.Consumer{Name: eventlog.AbsentConsumer, After: "1"}, Owner: "i", Due: time.Now(),
			Absences: []eventlog.Absence{{User: user, Room: room, Seq: seq, Reason: string(chat.ByPacket), Count: 1}},
		})
	}
	if err != nil {
		h.Fatal(err)
	}
}

// report lets a user of the room report an entry, and returns the id of the report.
func (h *testHost) report(room string, seq int64, key string) string {
	h.Helper()
	members := ok[wire.MembersReply](h, h.send(h.all, "POST", "/v1/server/system/members", fmt.Sprintf(`{"room":%q}`, room))).Members
	by := members[len(members)-1].User.ID // not the first one, which has sent the entry
	return ok[wire.ReportReply](h, h.send(h.all, "POST", "/v1/server/as/"+by+"/report", fmt.Sprintf(`{"room":%q,"seq":%d,"key":%q,"reason":"spam"}`, room, seq, key))).Report
}
