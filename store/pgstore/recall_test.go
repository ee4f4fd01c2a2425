package pgstore

import (
	"slices"
	"strings"
	"testing"

	"hongbao/chat"
	"hongbao/store/tables"
)

// TestRecalledIsNowhere recalls a text. Then neither its body, nor its edits, nor its reactions are anywhere in the
// database.
func TestRecalledIsNowhere(t *testing.T) {
	t.Parallel()
	s := storeWithRoom(t)
	d := textDraft(1)
	d.Body = []byte(`{"text":"a secret"}`)
	_, _, err := s.Append(t.Context(), d)
	must(t, err)
	_, _, err = s.Append(t.Context(), textDraft(2))
	must(t, err)
	edit, react, other := amendment(chat.KindEdit), amendment(chat.KindReact), amendment(chat.KindEdit)
	edit.Text, edit.ID, other.Target, other.ID = "another secret", "edit", 2, "other"
	for _, a := range []chat.Amendment{edit, react, other, amendment(chat.KindRecall)} {
		_, err := s.Amend(t.Context(), a)
		must(t, err)
	}
	var found []string
	must(t, s.withReader(t.Context(), func(r reader) error {
		found, err = tables.List(r, tables.ScanText, `select e::text from entries e where e::text like '%secret%' union all select r::text from reactions r`)
		return err
	}))
	if len(found) > 0 {
		t.Errorf("still stored: %q", found)
	}
	es, _, err := s.History(t.Context(), room, chat.Page{After: new(int64), Limit: 9})
	must(t, err)
	var bodies []string
	for _, e := range es {
		bodies = append(bodies, string(e.Body))
	}
	want := []string{`{"recalled":true}`, `"text":"better"`, `{"target":1,"recalled":true}`, `"emoji"`, `{"target":2,"text":"better"}`, `{"target":1}`}
	if !slices.EqualFunc(bodies, want, strings.Contains) {
		t.Errorf("%q", bodies)
	}
}
