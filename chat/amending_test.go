package chat_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"hongbao/chat"
)

// TestAmendingPublishesToTheRoom amends a text several times. Each amendment must be published once, and history must
// show the present text.
func TestAmendingPublishesToTheRoom(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	h := newTestService(t, chat.Options{Now: func() time.Time { return now }})
	room := h.room(chat.Public, "ann", "bob")
	h.sendText(room, "bob", "k")
	h.published.take()
	for range 2 {
		if seq, err := h.Edit(h.ctx, person("bob"), room, 1, "better", nil); err != nil || seq != 2 {
			t.Errorf("edit: seq %d, %v", seq, err)
		}
		h.must(h.React(h.ctx, person("ann"), room, 1, "👍", true))
	}
	h.wantPublished(publication{To: room, Entry: 2}, publication{To: room, Entry: 3})
	want := []string{
		`text {"text":"better","edited_at":1700000000000,"reactions":{"👍":1}}`,
		`edit {"target":1,"text":"better"}`,
		`react {"target":1,"emoji":"👍","on":true,"count":1}`,
	}
	if got := h.bodies(room, "ann"); !slices.Equal(got, want) {
		t.Errorf("history\n  %q\nwant\n  %q", got, want)
	}
	h.must(h.React(h.ctx, person("ann"), room, 1, "👍", false))
	now = now.Add(2*time.Minute + time.Millisecond)
	_, err := h.Edit(h.ctx, person("bob"), room, 1, "best", nil)
	h.refused(err, chat.ErrEditWindowOver)
	_, err = h.Recall(h.ctx, person("bob"), room, 1)
	h.refused(err, chat.ErrEditWindowOver)
	h.wantPublished(publication{To: room, Entry: 4})
	for range 2 {
		if seq, err := h.Recall(h.ctx, person("ann"), room, 1); err != nil || seq != 5 {
			t.Errorf("recall: seq %d, %v", seq, err)
		}
	}
	h.wantPublished(publication{To: room, Entry: 5})
	want = []string{
		`text {"recalled":true}`,
		`edit {"target":1,"recalled":true}`,
		`react {"target":1,"emoji":"👍","on":true,"count":1}`,
		`react {"target":1,"emoji":"👍","on":false,"count":0}`,
		`recall {"target":1}`,
	}
	if got := h.bodies(room, "ann"); !slices.Equal(got, want) {
		t.Errorf("history\n  %q\nwant\n  %q", got, want)
	}
	_, err = h.Edit(h.ctx, person("bob"), room, 1, "best", nil)
	h.refused(err, chat.ErrConflict)
	h.refused(h.React(h.ctx, person("ann"), room, 1, "👍", true), chat.ErrConflict)
	h.wantPublished()
}

func TestAmendingIsChecked(t *testing.T) {
	h := newTestService(t, chat.Options{Limits: chat.Limits{TextChars: 5, EmojiChars: 2}})
	room := h.room(chat.Public, "ann")
	h.sendText(room, "ann", "k")
	h.published.take()
	edit := func(room string, seq int64, text string) error {
		_, err := h.Edit(h.ctx, person("ann"), room, seq, text, nil)
		return err
	}
	recall := func(room string, seq int64) error {
		_, err := h.Recall(h.ctx, person("ann"), room, seq)
		return err
	}
	h.wrong(edit(room, 1, ""), chat.ErrBadRequest, "text")
	h.wrong(edit(room, 1, "123456"), chat.ErrTooLong, "text")
	h.wrong(edit(room, 1, "\x00"), chat.ErrBadRequest, "text")
	h.wrong(edit(strings.Repeat("r", 65), 1, "a"), chat.ErrBadRequest, "room")
	h.wrong(edit(room, 2, "a"), chat.ErrNotFound, "seq")
	h.wrong(recall(room, 0), chat.ErrBadRequest, "seq")
	h.wrong(recall(room, -1), chat.ErrBadRequest, "seq")
	h.wrong(recall(room, 1<<53), chat.ErrNotFound, "seq")
	h.wrong(h.React(h.ctx, person("ann"), room, 1, "", true), chat.ErrBadRequest, "emoji")
	h.wrong(h.React(h.ctx, person("ann"), room, 1, "👍👍👍", true), chat.ErrTooLong, "emoji")
	h.refused(recall("no-room", 1), chat.ErrNotFound)
	h.wantPublished()
	h.wrong(h.React(h.ctx, person("ann"), room, 1, "👍👍", true), chat.ErrBadRequest, "emoji")
	h.must(h.React(h.ctx, person("ann"), room, 1, "❤", true))
	if got := h.bodies(room, "ann"); got[1] != `react {"target":1,"emoji":"❤️","on":true,"count":1}` {
		t.Errorf("history %q", got)
	}
	h.wrong(h.React(h.ctx, person("ann"), room, 1, "ok", false), chat.ErrBadRequest, "emoji")
}
