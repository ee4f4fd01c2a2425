package chat_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"hongbao/chat"
)

func TestSendTellsTheRoomOnce(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_123)
	h := newHouse(t, chat.Options{Now: func() time.Time { return now.Add(456) }}) // not a whole millisecond
	room := h.room(chat.Public, "ann", "bob")
	first := h.say(room, "bob", "k")
	if first.Seq != 1 || first.ID == "" || !first.At.Equal(now) || first.Dup {
		t.Errorf("receipt %+v", first)
	}
	h.heard(telling{To: room, Entry: 1})

	first.Dup = true
	if again := h.say(room, "bob", "k"); again != first {
		t.Errorf("the same again: %+v, want %+v", again, first)
	}
	_, err := h.Send(h.ctx, person("bob"), chat.Message{Room: room, Key: "k", Text: "other"})
	h.refused(err, chat.ErrKeyReused)
	_, err = h.Send(h.ctx, person("cyn"), chat.Message{Room: room, Key: "k", Text: "hello"})
	h.refused(err, chat.ErrNotMember)
	_, err = h.Send(h.ctx, person("cyn"), chat.Message{Room: "nowhere", Key: "k", Text: "hello"})
	h.refused(err, chat.ErrNotFound)
	h.heard()

	entries, more, err := h.History(h.ctx, "ann", room, chat.Page{})
	h.must(err)
	if len(entries) != 1 || more || entries[0].From != person("bob") || string(entries[0].Body) != `{"text":"hello"}` {
		t.Errorf("history %+v, more %v", entries, more)
	}
}

func TestMessageIsChecked(t *testing.T) {
	h := newHouse(t, chat.Options{Limits: chat.Limits{TextChars: 3}})
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
	} {
		_, err := h.Send(h.ctx, person("ann"), test.m)
		var bad *chat.FieldError
		if !errors.Is(err, test.want) || !errors.As(err, &bad) || bad.Field != test.field {
			t.Errorf("%+v: error %v, want %v of %s", test.m, err, test.want, test.field)
		}
	}
	h.heard()
	if _, err := h.Send(h.ctx, person("ann"), chat.Message{Room: room, Key: "k", Text: "恭喜发"}); err != nil {
		t.Errorf("a text of just the limit: %v", err)
	}
}

// TestKeyComesFirst: what a key stands for is told even when the request would not pass today's checks.
func TestKeyComesFirst(t *testing.T) {
	h := newHouse(t, chat.Options{})
	room := h.room(chat.Public, "ann")
	first := h.say(room, "ann", "k")
	stricter := h.again(chat.Options{Limits: chat.Limits{TextChars: 1, NameChars: 1}})
	if again := stricter.say(room, "ann", "k"); again.Seq != first.Seq || !again.Dup {
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
	h := newHouse(t, chat.Options{})
	room := h.room(chat.Public, "ann", "bob")
	for i := range 120 {
		h.say(room, "ann", "k"+strings.Repeat("i", i%60)+strings.Repeat("j", i/60))
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

// TestHistoryStaysSmall: the longest texts there can be do not make a reply of a megabyte.
func TestHistoryStaysSmall(t *testing.T) {
	h := newHouse(t, chat.Options{})
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

func TestReadTellsOwnDevices(t *testing.T) {
	h := newHouse(t, chat.Options{})
	room := h.room(chat.Public, "ann", "bob")
	h.say(room, "ann", "1")
	h.say(room, "ann", "2")
	h.told.take()
	for _, seq := range []int64{1, 1, 0} {
		if unread, err := h.Read(h.ctx, "bob", room, seq); err != nil || unread != 1 {
			t.Errorf("read %d: unread %d, %v", seq, unread, err)
		}
	}
	h.heard(telling{To: "bob", Event: chat.ReadMoved{Room: room, User: "bob", Seq: 1}})
	_, err := h.Read(h.ctx, "bob", room, -1)
	h.refused(err, chat.ErrBadRequest)
	_, err = h.Read(h.ctx, "cyn", room, 1)
	h.refused(err, chat.ErrNotMember)
}

func TestResume(t *testing.T) {
	h := newHouse(t, chat.Options{})
	room := h.room(chat.Public, "ann")
	h.say(room, "ann", "1")
	h.say(room, "ann", "2")
	missed, err := h.Resume(h.ctx, []chat.Span{{Room: room, After: 1, Through: 2}})
	h.must(err)
	last, err := h.LastSeqs(h.ctx, []string{room, "no-room"})
	h.must(err)
	if len(missed[room]) != 1 || missed[room][0].Seq != 2 || len(last) != 1 || last[room] != 2 {
		t.Errorf("missed %+v, last %v", missed, last)
	}
}
