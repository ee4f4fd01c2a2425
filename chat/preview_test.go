package chat_test

import (
	"strings"
	"testing"

	"hongbao/chat"
)

func TestPreviewIsChecked(t *testing.T) {
	const text = `看https://a.example/x这个 (http://b.example:8080/p_(1)?q=1#f), [c](https://c.example/c) HTTPS://D.example. https://ann@e.example ftp://f.example`
	good := chat.Preview{URL: "https://a.example/x", Title: "A <page>", Text: "说明 🧧"}
	for _, c := range []struct {
		change func(*chat.Preview)
		field  string // "": it is right
	}{
		{func(*chat.Preview) {}, ""},
		{func(p *chat.Preview) { p.URL = "http://b.example:8080/p_(1)?q=1#f" }, ""},
		{func(p *chat.Preview) { p.URL = "https://c.example/c" }, ""},
		{func(p *chat.Preview) { p.URL = "HTTPS://D.example" }, ""},
		{func(p *chat.Preview) { p.Text = "" }, ""},
		{func(p *chat.Preview) { p.Title, p.Text = strings.Repeat("字", 200), strings.Repeat("字", 500) }, ""},

		{func(p *chat.Preview) { p.URL = "" }, "preview.url"},
		{func(p *chat.Preview) { p.URL = "https://a.example/" }, "preview.url"},
		{func(p *chat.Preview) { p.URL = "https://a.example/x这" }, "preview.url"},
		{func(p *chat.Preview) { p.URL = "https://other.example/x" }, "preview.url"},
		{func(p *chat.Preview) { p.URL = "https://c.example/c)" }, "preview.url"},
		{func(p *chat.Preview) { p.URL = "https://d.example" }, "preview.url"},
		{func(p *chat.Preview) { p.URL = "https://ann@e.example" }, "preview.url"},
		{func(p *chat.Preview) { p.URL = "ftp://f.example" }, "preview.url"},
		{func(p *chat.Preview) { p.URL = "https://" + strings.Repeat("a", 2041) }, "preview.url"},
		{func(p *chat.Preview) { p.Title = "" }, "preview.title"},
		{func(p *chat.Preview) { p.Title = " \u3000" }, "preview.title"},
		{func(p *chat.Preview) { p.Title = strings.Repeat("字", 201) }, "preview.title"},
		{func(p *chat.Preview) { p.Title = "a\nb" }, "preview.title"},
		{func(p *chat.Preview) { p.Title = "a\u202eb" }, "preview.title"},
		{func(p *chat.Preview) { p.Text = strings.Repeat("字", 501) }, "preview.text"},
		{func(p *chat.Preview) { p.Text = "a\x00" }, "preview.text"},
		{func(p *chat.Preview) { p.Text = "a\u2028b" }, "preview.text"},
	} {
		p := good
		c.change(&p)
		err := p.Check(text)
		if c.field == "" && err != nil || c.field != "" && (err == nil || !strings.Contains(err.Error(), ": "+c.field+" ")) {
			t.Errorf("%.80v: %v, want an error of %q", p, err, c.field)
		}
	}
	long := "https://" + strings.Repeat("a", 2041)
	if err := (chat.Preview{URL: long, Title: "long"}).Check(long); err == nil {
		t.Error("a link of 2,049 bytes has a preview")
	}
}

// TestPreviewFollowsItsText edits a text twice and recalls it. The preview must be that of the present text, and gone with the recall.
func TestPreviewFollowsItsText(t *testing.T) {
	h := newTestService(t, chat.Options{})
	room := h.room(chat.Private, "ann")
	present := func(want string) {
		t.Helper()
		entries, _, err := h.History(h.ctx, "ann", room, chat.Page{})
		h.must(err)
		if got, _, _ := strings.Cut(string(entries[0].Body), `,"edited_at"`); strings.TrimSuffix(got, "}") != strings.TrimSuffix(want, "}") {
			t.Errorf("the text is %s, want %s", got, want)
		}
	}
	first, second := &chat.Preview{URL: "https://a.example", Title: "Secret A"}, &chat.Preview{URL: "https://b.example", Title: "Secret B", Text: "more"}
	sent, err := h.Send(h.ctx, person("ann"), chat.Message{Room: room, Key: "k", Text: "see https://a.example", Preview: first})
	h.must(err)
	present(`{"text":"see https://a.example","preview":{"url":"https://a.example","title":"Secret A"}}`)
	_, err = h.Edit(h.ctx, person("ann"), room, sent.Seq, "see https://b.example", second)
	h.must(err)
	present(`{"text":"see https://b.example","preview":{"url":"https://b.example","title":"Secret B","text":"more"}`)
	_, err = h.Edit(h.ctx, person("ann"), room, sent.Seq, "see nothing", nil)
	h.must(err)
	present(`{"text":"see nothing"`)
	_, err = h.Recall(h.ctx, person("ann"), room, sent.Seq)
	h.must(err)
	present(`{"recalled":true}`)
	entries, err := h.store.Spans(h.ctx, []chat.Span{{Room: room, Through: 99}})
	h.must(err)
	for _, e := range entries[room] {
		if strings.Contains(string(e.Body), "Secret") {
			t.Errorf("entry %d still has a preview: %s", e.Seq, e.Body)
		}
	}
}
