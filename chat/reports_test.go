package chat_test

import (
	"errors"
	"testing"
	"time"

	"hongbao/chat"
)

// TestReportOnlyWhatTheUserSees reports entries and users that the caller sees, and others.
func TestReportOnlyWhatTheUserSees(t *testing.T) {
	h := newTestService(t, chat.Options{})
	room, other := h.room(chat.Private, "ann", "bob"), h.room(chat.Private, "cyn", "dan")
	say := func(room, user string) int64 {
		t.Helper()
		sent, err := h.Send(h.ctx, chat.User{ID: user}, chat.Message{Room: room, Key: "k-" + user, Text: "hello"})
		h.must(err)
		return sent.Seq
	}
	anns, bobs := say(room, "ann"), say(room, "bob")
	edited, err := h.Edit(h.ctx, chat.User{ID: "bob"}, room, bobs, "hello!", nil)
	h.must(err)
	hidden := say(other, "cyn")
	h.must(h.SignIn(h.ctx, chat.User{ID: "eve"}))
	for name, c := range map[string]struct {
		request chat.ReportRequest
		want    error
		kind    chat.ReportKind
		about   string
	}{
		"a text":                            {chat.ReportRequest{Room: room, Seq: bobs}, nil, chat.ReportMessage, "bob"},
		"a member":                          {chat.ReportRequest{Room: room, User: "bob"}, nil, chat.ReportPerson, "bob"},
		"a member, without the room":        {chat.ReportRequest{User: "bob"}, nil, chat.ReportPerson, "bob"},
		"an own text":                       {chat.ReportRequest{Room: room, Seq: anns}, chat.ErrBadRequest, "", ""},
		"oneself":                           {chat.ReportRequest{User: "ann"}, chat.ErrBadRequest, "", ""},
		"an edit":                           {chat.ReportRequest{Room: room, Seq: edited}, chat.ErrNotFound, "", ""},
		"no entry":                          {chat.ReportRequest{Room: room, Seq: 1000}, chat.ErrNotFound, "", ""},
		"a text of another room":            {chat.ReportRequest{Room: other, Seq: hidden}, chat.ErrNotFound, "", ""},
		"a member of another room":          {chat.ReportRequest{Room: other, User: "cyn"}, chat.ErrNotFound, "", ""},
		"a user who is in no common room":   {chat.ReportRequest{User: "cyn"}, chat.ErrNotFound, "", ""},
		"a user who never was in the room":  {chat.ReportRequest{Room: room, User: "eve"}, chat.ErrNotFound, "", ""},
		"an unknown user":                   {chat.ReportRequest{User: "nobody"}, chat.ErrNotFound, "", ""},
		"nothing":                           {chat.ReportRequest{Room: room}, chat.ErrBadRequest, "", ""},
		"both":                              {chat.ReportRequest{Room: room, Seq: bobs, User: "bob"}, chat.ErrBadRequest, "", ""},
		"an entry without its room":         {chat.ReportRequest{Seq: bobs}, chat.ErrBadRequest, "", ""},
		"the host's back end, by its id":    {chat.ReportRequest{User: chat.System.ID}, chat.ErrBadRequest, "", ""},
		"something for no reason":           {chat.ReportRequest{Room: room, Seq: bobs, Reason: "because"}, chat.ErrBadRequest, "", ""},
		"something with half of a sequence": {chat.ReportRequest{Room: room, Seq: -1}, chat.ErrBadRequest, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			c.request.Key = chat.NewID(time.Now())
			if c.request.Reason == "" {
				c.request.Reason = "spam"
			}
			stored, dup, err := h.Report(h.ctx, chat.User{ID: "ann"}, c.request)
			if !errors.Is(err, c.want) || err != nil && c.want == nil {
				t.Fatalf("got %v, want %v", err, c.want)
			}
			if err == nil && (dup || stored.Kind != c.kind || stored.About != c.about || stored.By != "ann") {
				t.Errorf("stored %+v, dup %t", stored, dup)
			}
		})
	}
}

// TestReportIsRepeated repeats a report after its author was removed: the first one is the answer.
func TestReportIsRepeated(t *testing.T) {
	h := newTestService(t, chat.Options{})
	room := h.room(chat.Private, "ann", "bob")
	request := chat.ReportRequest{Key: "k", Room: room, User: "ann", Reason: "abuse", Text: "see above"}
	first, dup, err := h.Report(h.ctx, chat.User{ID: "bob"}, request)
	if h.must(err); dup {
		t.Error("the first one counts as repeated")
	}
	h.must(h.Leave(h.ctx, chat.User{ID: "bob"}, room))
	again, dup, err := h.Report(h.ctx, chat.User{ID: "bob"}, request)
	if h.must(err); !dup || again != first {
		t.Errorf("again: %+v, %t; want %+v", again, dup, first)
	}
	request.Text = "other"
	if _, _, err = h.Report(h.ctx, chat.User{ID: "bob"}, request); !errors.Is(err, chat.ErrKeyReused) {
		t.Errorf("the key with another text: %v", err)
	}
}
