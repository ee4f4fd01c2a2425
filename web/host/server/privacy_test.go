package server_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/chat/files"
	"hongbao/store/sqlitestore"
	"hongbao/web/host/hostapi"
	"hongbao/web/wire"
)

// erase erases a user, and takes all steps.
func (h *testHost) erase(user, texts string) {
	h.Helper()
	ok[hostapi.ErasureReply](h, h.send(h.all, "POST", "/v1/server/users/"+user+"/erase?reason=asked", fmt.Sprintf(`{"texts":%q}`, texts)))
	step := chat.ErasureStep{User: user, At: time.Now().Add(time.Hour), NewID: chat.NewID}
	for more := true; more; {
		done, err := h.store.EraseStep(h.Context(), step)
		noError(h.T, err)
		more = done.Found
	}
	if e := get[hostapi.ErasureReply](h, "users/"+user+"/erase").Erasure; e.State != "done" || e.DoneAt == 0 || e.RoomsLeft != 0 {
		h.Fatalf("the erasure of %s: %+v", user, e)
	}
}

func TestHostErasesUsers(t *testing.T) {
	h := newTestHost(t)
	h.known("ann", "bob")
	key := h.newKey("privacy", hostapi.Privacy)
	moderator := h.newKey("moderator", hostapi.Moderate, hostapi.Chat, hostapi.Read)
	erase := func(key, user, query, body string) answer {
		return h.send(key, "POST", "/v1/server/users/"+user+"/erase"+query, body)
	}
	h.refused(erase(moderator, "ann", "?reason=x", `{"texts":"erase"}`), wire.CodeForbidden, "forbidden scope=privacy")
	h.refused(erase(key, "ann", "", `{"texts":"erase"}`), wire.CodeBadRequest, "bad_request field=reason")
	h.refused(erase(key, "ann", "?reason=x", `{"texts":"all"}`), wire.CodeBadRequest, "bad_request field=texts")
	h.refused(erase(key, "ann", "?reason=x", `{}`), wire.CodeBadRequest, "bad_request field=texts")
	h.refused(erase(key, "nobody", "?reason=x", `{"texts":"erase"}`), wire.CodeNotFound, "not_found")
	h.refused(h.send(key, "GET", "/v1/server/users/ann/erase", nil), wire.CodeNotFound, "not_found")

	room := ok[wire.CreateRoomReply](h, h.send(h.all, "POST", "/v1/server/as/ann/create_room", `{"name":"Tea","key":"r","kind":"private","members":["bob"]}`)).Room.ID
	ok[wire.SendReply](h, h.send(h.all, "POST", "/v1/server/as/ann/send", fmt.Sprintf(`{"room":%q,"key":"1","text":"quince"}`, room)))
	e := ok[hostapi.ErasureReply](h, erase(key, "ann", "?reason=ticket+5", `{"texts":"keep"}`)).Erasure
	if e.State != "running" || e.Texts != "keep" || e.RoomsLeft != 1 || e.AskedAt == 0 {
		t.Errorf("begun: %+v", e)
	}
	if act := h.act("erase_user"); act.Reason != "ticket 5" || act.Actor != "key/privacy" || act.Request != `{"texts":"keep","user":"ann"}` {
		t.Errorf("the act is %+v", act)
	}
	h.refused(h.send(h.all, "POST", "/v1/server/as/ann/send", fmt.Sprintf(`{"room":%q,"key":"2","text":"again"}`, room)), wire.CodeSuspended, "suspended field=for")
	h.refused(h.send(h.all, "PUT", "/v1/server/users/ann", `{"name":"Ann"}`), wire.CodeConflict, "conflict field=user")
	h.refused(h.send(h.all, "POST", "/v1/server/users/ann/reinstate", nil), wire.CodeConflict, "conflict field=user")
	if u := get[hostapi.UserReply](h, "users/ann").User; u.Name != "" || u.ErasedAt == 0 || u.SuspendedAt == 0 {
		t.Errorf("the user is %+v", u)
	}
	h.erase("ann", "erase")
	if text := string(h.send(h.all, "GET", "/v1/server/rooms/"+room+"/history?limit=50", nil).body); strings.Contains(text, "quince") || strings.Contains(text, `"Name of ann"`) {
		t.Errorf("the history is %s", text)
	}
	if got := get[hostapi.RoomReply](h, "rooms/"+room).Room; got.Owner != "bob" || got.Members != 1 {
		t.Errorf("the room is %+v", got)
	}
}

func TestHostSetsLegalHolds(t *testing.T) {
	h := newTestHost(t)
	h.known("ann")
	key := h.newKey("privacy", hostapi.Privacy)
	hold := func(verb, of, query string) answer { return h.send(key, verb, "/v1/server/legal_holds/"+of+query, nil) }
	h.refused(hold("PUT", "user/ann", ""), wire.CodeBadRequest, "bad_request field=reason")
	h.refused(hold("PUT", "packet/ann", "?reason=x"), wire.CodeBadRequest, "bad_request field=kind")
	h.refused(hold("PUT", "user/nobody", "?reason=x"), wire.CodeNotFound, "not_found")
	h.refused(hold("PUT", "room/nowhere", "?reason=x"), wire.CodeNotFound, "not_found")
	if got := ok[hostapi.LegalHoldReply](h, hold("PUT", "user/ann", "?reason=case+5")).Hold; got.Actor != "key/privacy" || got.Reason != "case 5" || got.At == 0 {
		t.Errorf("the hold is %+v", got)
	}
	h.refused(h.send(key, "POST", "/v1/server/users/ann/erase?reason=asked", `{"texts":"erase"}`), wire.CodeConflict, "conflict field=user")
	if got := ok[hostapi.ListLegalHoldsReply](h, h.send(key, "GET", "/v1/server/legal_holds?kind=user", nil)).Holds; len(got) != 1 || got[0].ID != "ann" {
		t.Errorf("listed %+v", got)
	}
	h.refused(h.send(key, "GET", "/v1/server/legal_holds?next=nonsense", nil), wire.CodeBadRequest, "bad_request field=next")
	for range 2 {
		ok[hostapi.DropLegalHoldReply](h, hold("DELETE", "user/ann", "?reason=over"))
	}
	if act := h.act("drop_legal_hold"); act.Reason != "over" || act.Request != `{"id":"ann","kind":"user"}` {
		t.Errorf("the act is %+v", act)
	}
	ok[hostapi.ErasureReply](h, h.send(key, "POST", "/v1/server/users/ann/erase?reason=asked", `{"texts":"erase"}`))
}

func TestHostReadsWhatAUserHasSent(t *testing.T) {
	h := newTestHost(t)
	h.known("ann", "bob")
	key := h.newKey("privacy", hostapi.Privacy)
	reader := h.newKey("reader", hostapi.Read)
	room := ok[wire.CreateRoomReply](h, h.send(h.all, "POST", "/v1/server/as/ann/create_room", `{"name":"Tea","key":"r","kind":"private","members":["bob"]}`)).Room.ID
	for i, user := range []string{"ann", "bob", "ann"} {
		ok[wire.SendReply](h, h.send(h.all, "POST", "/v1/server/as/"+user+"/send", fmt.Sprintf(`{"room":%q,"key":"%d","text":"text %[2]d"}`, room, i)))
	}
	const path = "/v1/server/users/ann/entries"
	h.refused(h.send(reader, "GET", path, nil), wire.CodeForbidden, "forbidden scope=privacy")
	h.refused(h.send(key, "GET", "/v1/server/users/nobody/entries", nil), wire.CodeNotFound, "not_found")
	h.refused(h.send(key, "GET", path+"?next=nonsense", nil), wire.CodeBadRequest, "bad_request field=next")
	var got []string
	for next, more := "", true; more; more = next != "" {
		page := ok[hostapi.UserEntriesReply](h, h.send(key, "GET", path+"?limit=1&next="+next, nil))
		for _, e := range page.Entries {
			if e.Kind == "text" {
				got = append(got, string(e.Body))
			}
		}
		next = page.Next
	}
	if fmt.Sprint(got) != `[{"text":"text 0"} {"text":"text 2"}]` {
		t.Errorf("ann has sent %s", got)
	}
}

func TestHostSetsRetention(t *testing.T) {
	h := newTestHost(t)
	h.known("ann")
	key := h.newKey("privacy", hostapi.Privacy)
	reader := h.newKey("reader", hostapi.Read)
	room := ok[wire.CreateRoomReply](h, h.send(h.all, "POST", "/v1/server/as/ann/create_room", `{"name":"Tea","key":"r"}`)).Room.ID
	path := "/v1/server/rooms/" + room + "/retention"
	set := func(query, body string) answer { return h.send(key, "PUT", path+query, body) }
	read := func() hostapi.Retention {
		return ok[hostapi.RetentionReply](h, h.send(reader, "GET", path, nil)).Retention
	}
	if got := read(); got != (hostapi.Retention{}) {
		t.Errorf("at first %+v", got)
	}
	want := hostapi.Retention{Days: 30, Keeps: 30}
	if got := ok[hostapi.RetentionReply](h, set("?reason=policy", `{"days":30}`)).Retention; got != want || read() != want {
		t.Errorf("set %+v, then read %+v", got, read())
	}
	if act := h.act("set_retention"); act.Reason != "policy" || act.Request != fmt.Sprintf(`{"days":30,"room":%q}`, room) {
		t.Errorf("the act is %+v", act)
	}
	h.refused(h.send(reader, "PUT", path+"?reason=x", `{"days":1}`), wire.CodeForbidden, "forbidden scope=privacy")
	h.refused(set("", `{"days":30}`), wire.CodeBadRequest, "bad_request field=reason")
	for _, days := range []string{"-1", "36501"} {
		h.refused(set("?reason=x", `{"days":`+days+`}`), wire.CodeBadRequest, "bad_request field=days")
	}
	h.refused(h.send(key, "PUT", "/v1/server/rooms/nowhere/retention?reason=x", `{"days":1}`), wire.CodeNotFound, "not_found")
	h.refused(h.send(reader, "GET", "/v1/server/rooms/nowhere/retention", nil), wire.CodeNotFound, "not_found")
	ok[hostapi.LegalHoldReply](h, h.send(key, "PUT", "/v1/server/legal_holds/user/ann?reason=case", nil))
	if got := read(); !got.Held {
		t.Errorf("under a legal hold %+v", got)
	}
	if got := ok[hostapi.RetentionReply](h, set("?reason=policy", `{"days":0}`)).Retention; got.Days != 0 || got.Keeps != 0 {
		t.Errorf("set back %+v", got)
	}
}

// erasedWords occur in all that a user writes in TestErasedWordsAreNowhere.
var erasedWords = []string{"Quillfeather", "marzipantext", "secondmarzipan", "greetingmarzipan", "opensesamemarzipan", "custommarzipan", "refmarzipan", "filenamemarzipan", "filecontentmarzipan",
	"reportmarzipan", "quotedmarzipan", "avatarmarzipan", "pushmarzipan", "heldmarzipan"}

// TestErasedWordsAreNowhere lets a user write words in every place that takes some. After the erasure, neither the files of the database, nor the object
// store, the log, the search or a backup that is made then has one of them. It drops and adds other rows meanwhile, so that pages are split and freed.
func TestErasedWordsAreNowhere(t *testing.T) {
	h := newTestHostWith(t, "*")
	h.known("ann", "eve")
	room := h.write(t)
	for _, word := range erasedWords {
		if where := h.places(t, word); where == nil {
			t.Errorf("%s is nowhere before the erasure", word)
		}
	}
	ok[hostapi.ErasureReply](h, h.send(h.all, "POST", "/v1/server/users/bob/erase?reason=asked", `{"texts":"erase"}`))
	for h.rooms.EraseDue(t.Context(), h.packets.ForgetSender) {
	}
	h.ahead.Store(int64(time.Hour)) // files are swept, and no command of before can run
	h.files.Sweep(t.Context())
	for h.rooms.EraseDue(t.Context(), h.packets.ForgetSender) {
	}
	if e := get[hostapi.ErasureReply](h, "users/bob/erase").Erasure; e.State != "done" {
		t.Fatalf("the erasure: %+v", e)
	}
	noError(t, sqlitestore.Vacuum(t.Context(), h.folder))
	for _, word := range erasedWords {
		if where := h.places(t, word); where != nil {
			t.Errorf("%s is still in %v", word, where)
		}
	}
	history := string(h.send(h.all, "GET", "/v1/server/rooms/"+room+"/history?after=0&limit=100", nil).body)
	search := string(h.send(h.all, "POST", "/v1/server/system/search", fmt.Sprintf(`{"words":"marzipantext","room":%q}`, room)).body)
	for _, text := range []string{history, search} {
		if strings.Contains(text, "marzipan") || strings.Contains(text, "Quillfeather") {
			t.Errorf("an answer has %s", text)
		}
	}
	if !strings.Contains(history, "the words of ann stay") {
		t.Error("the text of ann is gone")
	}
}

// write lets bob write all erasedWords, and returns the room.
func (h *testHost) write(t *testing.T) (room string) {
	t.Helper()
	post := func(user, command, body string, values ...any) answer {
		return h.send(h.all, "POST", "/v1/server/as/"+user+"/"+command, fmt.Sprintf(body, values...))
	}
	ok[hostapi.UserReply](h, h.send(h.all, "PUT", "/v1/server/users/bob", `{"name":"Quillfeather","avatar":"https://example.org/avatarmarzipan","ref":"refmarzipan","custom":{"a":"custommarzipan"}}`))
	ok[wire.AdjustReply](h, h.send(h.all, "POST", "/v1/server/users/bob/credit", `{"amount":1000}`, "Idempotency-Key", "bob"))
	room = ok[wire.CreateRoomReply](h, post("ann", "create_room", `{"name":"Tea","key":"r","kind":"private","members":["bob","eve"]}`)).Room.ID
	for n := range 300 {
		ok[wire.SendReply](h, post("ann", "send", `{"room":%q,"key":"a%d","text":"the words of ann stay"}`, room, n))
		seq := ok[wire.SendReply](h, post("bob", "send", `{"room":%q,"key":"b%d","text":"marzipantext %s","mentions":["ann"]}`, room, n, strings.Repeat("long ", n%40))).Seq
		if n%10 == 0 {
			ok[wire.SeqReply](h, post("bob", "edit", `{"room":%q,"seq":%d,"text":"secondmarzipan"}`, room, seq))
			ok[wire.ReactReply](h, post("bob", "react", `{"room":%q,"seq":%d,"emoji":"👍","on":true}`, room, seq-1))
		}
	}
	file := must(h.files.Begin(t.Context(), chat.User{ID: "bob"}, files.Upload{Room: room, Kind: chat.OtherFile, Name: "filenamemarzipan.txt", Size: int64(len("filecontentmarzipan"))}))
	must(h.files.Receive(t.Context(), files.Transfer{User: chat.User{ID: "bob"}, Room: room, File: file.ID, Content: strings.NewReader("filecontentmarzipan"), More: func() {}}))
	seq := ok[wire.SendReply](h, post("bob", "send", `{"room":%q,"key":"file","files":[%q]}`, room, file.ID)).Seq
	ok[wire.SendPacketReply](h, post("bob", "send_packet", `{"room":%q,"key":"p","mode":"equal","total":300,"count":2,"greeting":"greetingmarzipan"}`, room))
	locked := ok[wire.SendPacketReply](h, post("bob", "send_packet", `{"room":%q,"key":"q","mode":"equal","total":300,"count":2,"passphrase":"opensesamemarzipan"}`, room)).Packet.ID
	ok[wire.CancelPacketReply](h, post("bob", "cancel_packet", `{"packet":%q}`, locked))
	ok[wire.ReportReply](h, post("bob", "report", `{"room":%q,"seq":1,"key":"r1","reason":"spam","text":"reportmarzipan"}`, room))
	ok[wire.ReportReply](h, post("ann", "report", `{"room":%q,"seq":%d,"key":"r2","reason":"spam","text":"quotedmarzipan"}`, room, seq))
	ok[wire.SetRulesReply](h, post("ann", "set_rules", `{"room":%q,"rules":[{"kind":"words","do":"hold","words":["later"]}]}`, room))
	post("bob", "send", `{"room":%q,"key":"held","text":"later heldmarzipan"}`, room)
	noError(t, h.store.PutPicture(t.Context(), "bob", 1, chat.Picture{Hash: []byte("hash"), Data: []byte("avatarmarzipan")}, time.Now()))
	noError(t, h.store.PutSubscription(t.Context(), chat.Subscription{User: "bob", Endpoint: "https://example.org/pushmarzipan", P256dh: []byte("k"), Auth: []byte("a"), At: time.Now()}, 5))
	for more := []string{room}; len(more) > 0; {
		more = must(h.store.IndexEntries(t.Context(), more, 300))
	}
	return room
}

// places returns the files in which a word occurs: those of the database and of the object store, the log, and a backup that is made now.
func (h *testHost) places(t *testing.T, word string) (found []string) {
	t.Helper()
	backup := filepath.Join(t.TempDir(), "backup.db")
	auditor := must(sqlitestore.OpenAuditor(t.Context(), h.folder))
	noError(t, auditor.Backup(t.Context(), backup))
	noError(t, auditor.Close())
	look := func(name string, text []byte) {
		if bytes.Contains(text, []byte(word)) {
			found = append(found, name)
		}
	}
	look("the log", h.logged.Bytes())
	look("the backup", must(os.ReadFile(backup)))
	noError(t, filepath.WalkDir(h.folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			look(path, must(os.ReadFile(path)))
		}
		return err
	}))
	return found
}
