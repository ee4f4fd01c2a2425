package sqlitestore

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/chat"
	"hongbao/store/tables"
)

// recallStore is a store with one room. The tests recall texts in it.
type recallStore struct {
	*Store
	t   *testing.T
	dir string
	n   int
}

func newRecallStore(t *testing.T) *recallStore {
	t.Helper()
	dir := migratedFolder(t)
	r := &recallStore{Store: openStore(t, dir), t: t, dir: dir}
	_, _, err := r.CreateRoom(t.Context(), chat.NewRoom{
		ID: room, Name: "the room", Kind: chat.Public, Owner: chat.User{ID: "owner"}, Key: "k", Hash: []byte("h"), At: time.Now(), MaxRooms: 1,
	})
	noError(t, err)
	return r
}

func (r *recallStore) say(words string) (seq int64) {
	r.t.Helper()
	r.n++
	d := text(r.n)
	d.Body = fmt.Appendf(nil, `{"text":%q}`, words)
	e, _, err := r.Append(r.t.Context(), d)
	if err != nil {
		r.t.Fatal(err)
	}
	return e.Seq
}

func (r *recallStore) amend(kind chat.EntryKind, seq int64, words string) {
	r.t.Helper()
	r.n++
	done, err := r.Amend(r.t.Context(), chat.Amendment{
		Kind: kind, Room: room, Target: seq, By: chat.User{ID: "owner"}, Text: words, At: time.Now(), ID: fmt.Sprint("entry-", r.n), Window: time.Hour,
	})
	if err != nil || !done.Changed {
		r.t.Fatalf("%s: %+v, %v", kind, done, err)
	}
}

// count counts the occurrences of the text in all files of the database.
func (r *recallStore) count(words string) (n int) {
	r.t.Helper()
	files, err := filepath.Glob(filepath.Join(r.dir, FileName+"*"))
	if err != nil || len(files) < 2 {
		r.t.Fatalf("the database is %v, %v", files, err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			r.t.Fatal(err)
		}
		n += bytes.Count(data, []byte(words))
	}
	return n
}

// TestRecalledTextLeavesTheFiles recalls short and long texts, edited or not. After a sweep no byte of them is left
// in the files.
func TestRecalledTextLeavesTheFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecallStore(t)
		var secrets []int64
		for i := range 60 {
			long := strings.Repeat("x", []int{3, 40, 300, 1100, 5000, 20_000}[i%6])
			r.say("open " + long)
			secrets = append(secrets, r.say("covert "+long))
			if i%3 == 0 {
				r.amend(chat.KindEdit, secrets[i], "covert edit "+long)
				r.amend(chat.KindEdit, secrets[i], "covert edit of the edit "+long)
			}
		}
		if n := r.count("covert"); n < len(secrets) {
			t.Fatalf("found %d secrets before they are recalled: the test cannot see them", n)
		}
		for _, seq := range secrets {
			r.amend(chat.KindRecall, seq, "")
		}
		synctest.Wait()
		time.Sleep(sweepEvery) // the first recall's sweep may have come before the last recall
		synctest.Wait()
		if n := r.count("covert"); n > 0 {
			t.Errorf("secrets are left in %d places", n)
		}
		if n := r.count("open "); n < 60 {
			t.Errorf("%d of 60 other texts are left", n)
		}
	})
}

// TestSweepIsRare recalls two texts. The sweep after the first comes at once, and the next only after a minute.
func TestSweepIsRare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecallStore(t)
		first, second := r.say("first covert"), r.say("second covert")
		r.amend(chat.KindRecall, first, "")
		synctest.Wait()
		if n := r.count("first covert"); n > 0 {
			t.Errorf("the text is left in %d places after the sweep", n)
		}
		time.Sleep(sweepEvery / 2)
		r.amend(chat.KindRecall, second, "")
		synctest.Wait()
		if r.count("second covert") == 0 {
			t.Error("swept again after half of sweepEvery")
		}
		time.Sleep(sweepEvery / 2)
		synctest.Wait()
		if n := r.count("second covert"); n > 0 {
			t.Errorf("the text is left in %d places after the second sweep", n)
		}
	})
}

// TestSweepRetriesAfterReaders holds a reader of an older snapshot open. The sweep gives up, writers go on, and the
// sweep is retried later.
func TestSweepRetriesAfterReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecallStore(t)
		seq := r.say("covert")
		err := r.view(t.Context(), func(rd reader) error {
			if _, err := tables.ReadRoom(rd, room); err != nil {
				return err
			}
			r.amend(chat.KindRecall, seq, "")
			synctest.Wait()
			if r.count("covert") == 0 {
				t.Error("swept while a reader uses an older state")
			}
			r.say("go on")
			return nil
		})
		noError(t, err)
		time.Sleep(sweepEvery)
		synctest.Wait()
		if n := r.count("covert"); n > 0 {
			t.Errorf("the text is left in %d places", n)
		}
	})
}

// TestSweepAfterACrash leaves a log with a recalled text, as a crashed process does. The next process must sweep it.
func TestSweepAfterACrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecallStore(t)
		r.amend(chat.KindRecall, r.say("another covert"), "")
		synctest.Wait()
		r.amend(chat.KindRecall, r.say("covert"), "") // not swept yet
		again := &recallStore{t: t, dir: t.TempDir()}
		noError(t, os.CopyFS(again.dir, os.DirFS(r.dir)))
		if again.count("covert") == 0 {
			t.Fatal("there is nothing to sweep")
		}
		openStore(t, again.dir)
		time.Sleep(sweepEvery)
		synctest.Wait()
		if n := again.count("covert"); n > 0 {
			t.Errorf("the text is left in %d places", n)
		}
	})
}
