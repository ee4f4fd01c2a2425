package pgstore

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/chat/words"
)

// TestIndexDuringAmendments edits and recalls texts while two instances put the room into the index. In the end, the index must have exactly the words of
// the texts as they are.
func TestIndexDuringAmendments(t *testing.T) {
	t.Parallel()
	all := instances(t, 2)
	createTestRoom(t, all[0])
	const texts = 40
	for n := range texts {
		d := textDraft(n)
		d.Body = fmt.Appendf(nil, `{"text":"first %d"}`, n)
		_, _, err := all[0].Append(t.Context(), d)
		must(t, err)
	}
	want := 0
	var wg sync.WaitGroup
	for n := range texts {
		target, _, err := all[0].History(t.Context(), room, chat.Page{After: new(int64(n)), Limit: 1})
		must(t, err)
		a := chat.Amendment{Kind: chat.KindEdit, Room: room, Target: target[0].Seq, By: chat.User{ID: "owner"}, At: time.Now(), ID: fmt.Sprint("amend ", n), Window: time.Hour}
		if n%2 == 0 {
			a.Text = fmt.Sprint("second text ", n)
			want += len(words.Of(a.Text))
		} else {
			a.Kind = chat.KindRecall
		}
		wg.Go(func() {
			if _, err := all[n/2%2].Amend(t.Context(), a); err != nil {
				t.Error(err)
			}
		})
	}
	for _, s := range all {
		wg.Go(func() {
			for range 30 {
				if _, err := s.IndexEntries(t.Context(), []string{room}, 3); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for left := []string{room}; len(left) > 0; {
		var err error
		left, err = all[0].IndexEntries(t.Context(), left, 100)
		must(t, err)
	}
	var rows int
	must(t, all[0].withReader(t.Context(), func(r reader) error {
		_, err := r.Row(`select count(*) from entry_words`, nil, &rows)
		return err
	}))
	if rows != want {
		t.Errorf("the index has %d rows, want %d", rows, want)
	}
}
