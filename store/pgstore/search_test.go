package pgstore

import (
	"fmt"
	"sync"
	"sync/atomic"
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
			want += len(words.Of(a.Text)) + 1 // the sender
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
	if rows := indexRows(t, all[0]); rows != want {
		t.Errorf("the index has %d rows, want %d", rows, want)
	}
}

// TestIndexWaitsForAMissingEntry hides an entry, as Citus does whose worker has not committed it yet. The index must not go past it.
func TestIndexWaitsForAMissingEntry(t *testing.T) {
	t.Parallel()
	s := storeWithRoom(t)
	for n := range 3 {
		_, _, err := s.Append(t.Context(), textDraft(n))
		must(t, err)
	}
	move := func(by int64) {
		must(t, s.tx(t.Context(), func(w *writer) error {
			_, err := w.Exec(`update entries set seq = seq + $2 where room_id = $1 and id = 'entry-1'`, room, by)
			return err
		}))
	}
	index := func(want int) {
		left := []string{room}
		for range 2 { // the second call finds only the missing entry, and gives up
			var err error
			left, err = s.IndexEntries(t.Context(), left, 100)
			must(t, err)
		}
		if len(left) > 0 {
			t.Errorf("rooms left %q: they would be tried without end", left)
		}
		if rows := indexRows(t, s); rows != want {
			t.Errorf("the index has %d rows, want %d", rows, want)
		}
	}
	move(100)
	index(2) // the word and the sender
	move(-100)
	index(6)
}

// TestAmendmentWaitsForTheIndex recalls a text while a transaction puts it into the index.
func TestAmendmentWaitsForTheIndex(t *testing.T) {
	t.Parallel()
	s := storeWithRoom(t)
	_, err := s.IndexEntries(t.Context(), []string{room}, 100)
	must(t, err)
	e, _, err := s.Append(t.Context(), textDraft(1))
	must(t, err)
	var done atomic.Bool
	var wg sync.WaitGroup
	must(t, holdTx(t, s, func(w *writer) error {
		if _, err := w.Exec(`update indexed_rooms set seq = $1`, e.Seq); err != nil {
			return err
		}
		wg.Go(func() {
			a := chat.Amendment{Kind: chat.KindRecall, Room: room, Target: e.Seq, By: chat.User{ID: "owner"}, At: time.Now(), ID: "recall", Window: time.Hour}
			if _, err := s.Amend(t.Context(), a); err != nil {
				t.Error(err)
			}
			done.Store(true)
		})
		awaitBlockedOr(t, s, &done)
		_, err := w.Exec(`insert into entry_words (word, at, seq) values ($1, $3, $4), ($2, $3, $4)`,
			words.Hash(room, "hello"), words.Hash(room, "\x01owner"), e.At.UnixMilli(), e.Seq)
		return err
	}))
	wg.Wait()
	if rows := indexRows(t, s); rows != 0 {
		t.Errorf("%d words of a recalled text are in the index", rows)
	}
}

// TestIndexWaitsForTheFirstAmendment puts a room into the index for the first time, while a recall is not committed yet, which has found no index.
func TestIndexWaitsForTheFirstAmendment(t *testing.T) {
	t.Parallel()
	s := storeWithRoom(t)
	e, _, err := s.Append(t.Context(), textDraft(1))
	must(t, err)
	var done atomic.Bool
	var wg sync.WaitGroup
	must(t, holdTx(t, s, func(w *writer) error {
		if _, err := w.Exec(`update rooms set name = name`); err != nil { // as an amendment does
			return err
		}
		wg.Go(func() {
			if _, err := s.IndexEntries(t.Context(), []string{room}, 100); err != nil {
				t.Error(err)
			}
			done.Store(true)
		})
		awaitBlockedOr(t, s, &done)
		_, err := w.Exec(`update entries set body = '{"text":""}' where seq = $1`, e.Seq)
		return err
	}))
	wg.Wait()
	if rows := indexRows(t, s); rows != 0 {
		t.Errorf("%d words of a text are in the index that was removed before", rows)
	}
}

// TestAmendmentsNeedNoIndex amends a text on a server without a search.
func TestAmendmentsNeedNoIndex(t *testing.T) {
	t.Parallel()
	s := storeWithRoom(t)
	e, _, err := s.Append(t.Context(), textDraft(1))
	must(t, err)
	for _, kind := range []chat.EntryKind{chat.KindEdit, chat.KindRecall} {
		_, err := s.Amend(t.Context(), chat.Amendment{Kind: kind, Text: "changed", Room: room, Target: e.Seq, By: chat.User{ID: "owner"}, At: time.Now(), ID: string(kind), Window: time.Hour})
		must(t, err)
	}
	must(t, s.withReader(t.Context(), func(r reader) error {
		var rows int
		_, err := r.Row(`select count(*) from indexed_rooms -- of the test`, nil, &rows)
		if rows != 0 {
			t.Errorf("%d rooms are in the index", rows)
		}
		return err
	}))
}

func indexRows(t *testing.T, s *Store) (rows int) {
	t.Helper()
	must(t, s.withReader(t.Context(), func(r reader) error {
		_, err := r.Row(`select count(*) from entry_words -- of the test`, nil, &rows)
		return err
	}))
	return rows
}
