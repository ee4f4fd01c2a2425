package chat_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"hongbao/chat"
)

func TestSendTellsTheRoomOnce(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_123)
	h := newTestService(t, chat.Options{Now: func() time.Time { return now.Add(456) }}) // a part of a millisecond, which must be cut off
	room := h.room(chat.Public, "ann", "bob")
	first := h.sendText(room, "bob", "k")
	if first.Seq != 1 || first.ID == "" || !first.At.Equal(now) || first.Dup {
		t.Errorf("receipt %+v", first)
	}
	h.wantPublished(publication{To: room, Entry: 1})

	first.Dup = true
	if again := h.sendText(room, "bob", "k"); again != first {
		t.Errorf("the same again: %+v, want %+v", again, first)
	}
	_, err := h.Send(h.ctx, person("bob"), chat.Message{Room: room, Key: "k", Text: "other"})
	h.refused(err, chat.ErrKeyReused)
	_, err = h.Send(h.ctx, person("cyn"), chat.Message{Room: room, Key: "k", Text: "hello"})
	h.refused(err, chat.ErrNotMember)
	_, err = h.Send(h.ctx, person("cyn"), chat.Message{Room: "nowhere", Key: "k", Text: "hello"})
	h.refused(err, chat.ErrNotFound)
	h.wantPublished()

	entries, more, err := h.History(h.ctx, "ann", room, chat.Page{})
	h.must(err)
	if len(entries) != 1 || more || entries[0].From != person("bob") || string(entries[0].Body) != `{"text":"hello"}` {
		t.Errorf("history %+v, more %v", entries, more)
	}
}

func TestMessageIsChecked(t *testing.T) {
	h := newTestService(t, chat.Options{Limits: chat.Limits{TextChars: 3, DataBytes: 16, Mentions: 2}})
	room := h.room(chat.Public, "ann")
	for _, test := range []struct {
		m     chat.Message
		field string
		want  error
	}{
		{chat.Message{Room: room, Text: "a"}, "key", chat.ErrBadRequest},
		{chat.Message{Room: room, Key: strings.Repeat("k", 65), Text: "a"}, "key", chat.ErrBadRequest},
		{chat.Message{Room: room, Key: "a b", Text: "a"}, "key", chat.ErrBadRequest},
		{chat.Message{Room: room, Key: "é", Text: "a"}, "key", chat.ErrBadRequest},
		{chat.Message{Key: "k", Text: "a"}, "room", chat.ErrBadRequest},
		{chat.Message{Room: strings.Repeat("r", 65), Key: "k", Text: "a"}, "room", chat.ErrBadRequest},
		{chat.Message{Room: "a\x00", Key: "k", Text: "a"}, "room", chat.ErrBadRequest},
		{chat.Message{Room: room, Key: "k"}, "text", chat.ErrBadRequest},
		{chat.Message{Room: room, Key: "k", Text: "a\x00"}, "text", chat.ErrBadRequest},
		{chat.Message{Room: room, Key: "k", Text: "恭喜发财"}, "text", chat.ErrTooLong},
		{chat.Message{Room: room, Key: "k", Data: object("{\"a\":\"恭喜发财\"}")}, "data", chat.ErrTooLong},
		{chat.Message{Room: room, Key: "k", Data: object(`[]`)}, "data", chat.ErrBadRequest},
		{chat.Message{Room: room, Key: "k", Data: object(`{"a"`)}, "data", chat.ErrBadRequest},
		{chat.Message{Room: room, Key: "k", Data: object(``)}, "data", chat.ErrBadRequest},
		{chat.Message{Room: room, Key: "k", Text: "a", ReplyTo: -1}, "reply_to", chat.ErrBadRequest},
		{chat.Message{Room: room, Key: "k", Text: "a", ReplyTo: 1}, "reply_to", chat.ErrBadRequest},
		{chat.Message{Room: room, Key: "k", Text: "a", Mentions: []string{"1", "2", "3"}}, "mentions", chat.ErrLimitExceeded},
		{chat.Message{Room: room, Key: "k", Text: "a", Mentions: []string{""}}, "mentions", chat.ErrBadRequest},
	} {
		_, err := h.Send(h.ctx, person("ann"), test.m)
		var bad *chat.FieldError
		if !errors.Is(err, test.want) || !errors.As(err, &bad) || bad.Field != test.field {
			t.Errorf("%+v: error %v, want %v of %s", test.m, err, test.want, test.field)
		}
	}
	h.wantPublished()
	most := chat.Message{Room: room, Key: "k", Text: "恭喜发", Data: object(`{"a":"12345678"}`), Mentions: []string{"1", "unknown"}}
	if _, err := h.Send(h.ctx, person("ann"), most); err != nil {
		t.Errorf("a message of just the limits: %v", err)
	}
}

// TestMentionAll sends texts that mention all members. Members without a right must be refused, and the text that a member finds must not be listed twice.
func TestMentionAll(t *testing.T) {
	h := newTestService(t, chat.Options{})
	room := h.room(chat.Private, "ann", "bob", "cyn")
	direct, err := h.Direct(h.ctx, person("ann"), "bob")
	h.must(err)
	m := chat.Message{Room: room, Key: "k", Text: "@all", Mentions: []string{"bob"}, MentionAll: true}
	for _, from := range []string{"bob", "cyn"} {
		_, err := h.Send(h.ctx, person(from), m)
		h.refused(err, chat.ErrForbidden)
		if want := "forbidden: mention_all is only for the owner and admins of a room"; err.Error() != want {
			t.Errorf("%q, want %q", err, want)
		}
	}
	inDirect := m
	inDirect.Room = direct.Room.ID
	_, err = h.Send(h.ctx, person("ann"), inDirect)
	h.refused(err, chat.ErrForbidden)
	h.must(h.SetRole(h.ctx, person("ann"), room, "cyn", chat.Admin))
	sent, err := h.Send(h.ctx, person("cyn"), m)
	h.must(err)
	const body = `{"text":"@all","mentions":["bob"],"mention_all":true}`
	wantFound := func(user, body string, seqs ...int64) {
		t.Helper()
		found, _, err := h.Mentions(h.ctx, user, "", 10)
		h.must(err)
		var got []int64
		for _, e := range found {
			if got = append(got, e.Seq); string(e.Body) != body {
				t.Errorf("%s finds %s, want %s", user, e.Body, body)
			}
		}
		if !slices.Equal(got, seqs) {
			t.Errorf("%s finds %d, want %d", user, got, seqs)
		}
	}
	wantFound("ann", body, sent.Seq)
	wantFound("bob", body, sent.Seq)
	wantFound("cyn", body)
	_, err = h.Edit(h.ctx, person("cyn"), room, sent.Seq, "@all again", nil)
	h.must(err)
	found, _, err := h.Mentions(h.ctx, "ann", "", 10)
	h.must(err)
	if len(found) != 1 || !strings.Contains(string(found[0].Body), `"text":"@all again","mentions":["bob"],"mention_all":true,"edited_at"`) {
		t.Errorf("an edited text is %+v", found)
	}
	_, err = h.Recall(h.ctx, person("ann"), room, sent.Seq)
	h.must(err)
	wantFound("bob", body)
	_, err = h.Send(h.ctx, chat.System, chat.Message{Room: room, Key: "system", Text: "all", MentionAll: true})
	h.must(err)
}

func object(text string) json.RawMessage { return json.RawMessage(text) }

// TestMessageWithAllFields sends a message with all fields. All must be stored and covered by the hash of its key, and
// text must always be present.
func TestMessageWithAllFields(t *testing.T) {
	h := newTestService(t, chat.Options{})
	room := h.room(chat.Public, "ann")
	h.sendText(room, "ann", "first")
	bare := chat.Message{Room: room, Key: "bare", Data: object(`{"url":"<a>"}`)}
	_, err := h.Send(h.ctx, person("ann"), bare)
	h.must(err)
	whole := chat.Message{Room: room, Key: "whole", Text: "look", Data: object(`{"n":1e400}`), ReplyTo: 1, Mentions: []string{"bob", "cyn"}}
	first, err := h.Send(h.ctx, person("ann"), whole)
	h.must(err)
	if again, err := h.Send(h.ctx, person("ann"), whole); err != nil || !again.Dup || again.Seq != first.Seq {
		t.Errorf("the same again: %+v, %v", again, err)
	}
	for _, change := range []func(*chat.Message){
		func(m *chat.Message) { m.Data = nil },
		func(m *chat.Message) { m.ReplyTo = 2 },
		func(m *chat.Message) { m.Mentions = m.Mentions[1:] },
		func(m *chat.Message) { m.Text = "" },
		func(m *chat.Message) { m.MentionAll = true },
		func(m *chat.Message) { m.Data, m.ReplyTo, m.Mentions = nil, 0, nil },
	} {
		other := whole
		change(&other)
		_, err := h.Send(h.ctx, person("ann"), other)
		h.refused(err, chat.ErrKeyReused)
	}
	picture := chat.Message{Room: room, Key: "picture", Text: "look", Data: object(`{}`)}
	_, err = h.Send(h.ctx, person("ann"), picture)
	h.must(err)
	picture.Data = nil
	_, err = h.Send(h.ctx, person("ann"), picture)
	h.refused(err, chat.ErrKeyReused)
	entries, _, err := h.History(h.ctx, "ann", room, chat.Page{})
	h.must(err)
	var bodies []string
	for _, e := range entries {
		bodies = append(bodies, string(e.Body))
	}
	if want := []string{
		`{"text":"hello"}`,
		`{"text":"","data":{"url":"<a>"}}`,
		`{"text":"look","data":{"n":1e400},"reply_to":1,"mentions":["bob","cyn"]}`,
		`{"text":"look","data":{}}`,
	}; !slices.Equal(bodies, want) {
		t.Errorf("bodies\n  %q\nwant\n  %q", bodies, want)
	}
}

// TestKeyComesFirst repeats a message that today's checks would refuse. Its key was used, so the first result must be
// returned.
func TestKeyComesFirst(t *testing.T) {
	h := newTestService(t, chat.Options{})
	room := h.room(chat.Public, "ann")
	first := h.sendText(room, "ann", "k")
	stricter := h.restarted(chat.Options{Limits: chat.Limits{TextChars: 1, NameChars: 1}})
	if again := stricter.sendText(room, "ann", "k"); again.Seq != first.Seq || !again.Dup {
		t.Errorf("under a stricter limit: %+v, want %+v", again, first)
	}
	_, err := h.Send(h.ctx, person("ann"), chat.Message{Room: room, Key: "k"})
	h.refused(err, chat.ErrKeyReused)
	_, _, err = h.CreateRoom(h.ctx, person("ann"), chat.CreateRoom{Key: "k"})
	h.refused(err, chat.ErrKeyReused)
	_, err = h.Send(h.ctx, person("ann"), chat.Message{Room: room, Key: "new"})
	h.refused(err, chat.ErrBadRequest)
}

func TestHistoryPage(t *testing.T) {
	h := newTestService(t, chat.Options{})
	room := h.room(chat.Public, "ann", "bob")
	for i := range 120 {
		h.sendText(room, "ann", "k"+strings.Repeat("i", i%60)+strings.Repeat("j", i/60))
	}
	at := func(seq int64) *int64 { return &seq }
	for _, test := range []struct {
		page chat.Page
		want int
	}{{chat.Page{}, 50}, {chat.Page{Limit: 7}, 7}, {chat.Page{Limit: 1000}, 100}, {chat.Page{After: at(0), Limit: 100}, 100}} {
		es, more, err := h.History(h.ctx, "bob", room, test.page)
		if err != nil || len(es) != test.want || !more {
			t.Errorf("%+v: %d entries, more %v, %v; want %d", test.page, len(es), more, err, test.want)
		}
	}
	for _, bad := range []chat.Page{{Limit: -1}, {Before: at(1), After: at(0)}, {Before: at(-1)}, {After: at(-1)}} {
		_, _, err := h.History(h.ctx, "bob", room, bad)
		h.refused(err, chat.ErrBadRequest)
	}
	_, _, err := h.History(h.ctx, "cyn", room, chat.Page{})
	h.refused(err, chat.ErrNotMember)
	h.must(h.Leave(h.ctx, person("bob"), room))
	_, _, err = h.History(h.ctx, "bob", room, chat.Page{})
	h.refused(err, chat.ErrNotMember)
}

// TestHistoryStaysSmall reads a page of the longest texts. The reply must stay under 1 MiB.
func TestHistoryStaysSmall(t *testing.T) {
	h := newTestService(t, chat.Options{})
	room := h.room(chat.Public, "ann")
	for i := range 100 {
		m := chat.Message{Room: room, Key: "k" + strings.Repeat("i", i%50) + strings.Repeat("j", i/50), Text: strings.Repeat("\x01", 4000)}
		if _, err := h.Send(h.ctx, person("ann"), m); err != nil {
			t.Fatal(err)
		}
	}
	for _, most := range []int{0, 1 << 30} {
		es, more, err := h.History(h.ctx, "ann", room, chat.Page{Limit: 100, MaxBytes: most})
		h.must(err)
		size := 0
		for _, e := range es {
			size += len(e.Body)
		}
		if !more || len(es) < 2 || size > 1<<19 {
			t.Errorf("%d entries of %d bytes, more %v", len(es), size, more)
		}
	}
}

// TestReadIsPublished reads in a small and in a large room. In the small one all members must get the position, in the
// large one only the reader's own devices.
func TestReadIsPublished(t *testing.T) {
	h := newTestService(t, chat.Options{})
	small, large := h.room(chat.Public, "ann", "bob"), h.largeRoom("ann", "bob")
	for _, room := range []string{small, large} {
		h.sendText(room, "ann", room+"1")
		h.sendText(room, "ann", room+"2")
		h.published.take()
		for _, seq := range []int64{1, 1, 0} {
			if unread, err := h.Read(h.ctx, "bob", room, seq); err != nil || unread != 1 {
				t.Errorf("read %d: unread %d, %v", seq, unread, err)
			}
		}
		to := map[string]string{small: small, large: "bob"}
		h.wantPublished(publication{To: to[room], Event: chat.ReadMoved{Room: room, User: "bob", Seq: 1}})
	}
	_, err := h.Read(h.ctx, "bob", small, -1)
	h.refused(err, chat.ErrBadRequest)
	_, err = h.Read(h.ctx, "cyn", small, 1)
	h.refused(err, chat.ErrNotMember)
}
