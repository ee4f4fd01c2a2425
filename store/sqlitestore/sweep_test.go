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
)

// recalling is a store with one room, whose texts the tests recall.
type recalling struct {
	*Store
	t   *testing.T
	dir string
	n   int
}

func newRecalling(t *testing.T) *recalling {
	t.Helper()
	dir := t.TempDir()
	r := &recalling{Store: openStore(t, dir), t: t, dir: dir}
	_, _, err := r.CreateRoom(t.Context(), chat.NewRoom{
		ID: room, Name: "the room", Kind: chat.Public, Owner: chat.User{ID: "owner"}, Key: "k", Hash: []byte("h"), At: time.Now(), MaxRooms: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *recalling) say(words string) (seq int64) {
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

func (r *recalling) amend(kind chat.EntryKind, seq int64, words string) {
	r.t.Helper()
	r.n++
	done, err := r.Amend(r.t.Context(), chat.Amendment{
		Kind: kind, Room: room, Target: seq, By: chat.User{ID: "owner"}, Text: words, At: time.Now(), ID: fmt.Sprint("entry-", r.n), Window: time.Hour,
	})
	if err != nil || !done.Changed {
		r.t.Fatalf("%s: %+v, %v", kind, done, err)
	}
}

// holds counts the places of the words in all files of the database.
func (r *recalling) holds(words string) (n int) {
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

// TestRecalledTextLeavesTheFiles: of texts short and long, edited and not, no byte is left when the log is swept.
func TestRecalledTextLeavesTheFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecalling(t)
		var secrets []int64
		for i := range 60 {
			long := strings.Repeat("x", []int{3, 40, 300, 1100, 5000, 20_000}[i%6])
			r.say("open " + long)
			secrets = append(secrets, r.say("secret "+long))
			if i%3 == 0 {
				r.amend(chat.KindEdit, secrets[i], "secret edit "+long)
				r.amend(chat.KindEdit, secrets[i], "secret edit of the edit "+long)
			}
		}
		if n := r.holds("secret"); n < len(secrets) {
			t.Fatalf("%d secrets are found before they are recalled: the test does not see them", n)
		}
		for _, seq := range secrets {
			r.amend(chat.KindRecall, seq, "")
		}
		synctest.Wait()
		time.Sleep(sweepEvery) // the first recall's sweep may have come before the last one
		synctest.Wait()
		if n := r.holds("secret"); n > 0 {
			t.Errorf("secrets are left in %d places", n)
		}
		if n := r.holds("open "); n < 60 {
			t.Errorf("of 60 other texts %d are left", n)
		}
	})
}

// TestSweepIsRare: one comes at once, the next not within the same minute.
func TestSweepIsRare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecalling(t)
		first, second := r.say("first secret"), r.say("second secret")
		r.amend(chat.KindRecall, first, "")
		synctest.Wait()
		if n := r.holds("first secret"); n > 0 {
			t.Errorf("it is left in %d places after the sweep", n)
		}
		time.Sleep(sweepEvery / 2)
		r.amend(chat.KindRecall, second, "")
		synctest.Wait()
		if r.holds("second secret") == 0 {
			t.Error("swept again after half the time")
		}
		time.Sleep(sweepEvery / 2)
		synctest.Wait()
		if n := r.holds("second secret"); n > 0 {
			t.Errorf("it is left in %d places after the second sweep", n)
		}
	})
}

// TestSweepWaitsForNobody: while one reads an older state it gives up, others go on writing, and later it comes again.
func TestSweepWaitsForNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecalling(t)
		seq := r.say("secret")
		err := r.view(t.Context(), func(rd reader) error {
			if _, err := readRoom(rd, room); err != nil {
				return err
			}
			r.amend(chat.KindRecall, seq, "")
			synctest.Wait()
			if r.holds("secret") == 0 {
				t.Error("swept from under a reader")
			}
			r.say("go on")
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(sweepEvery)
		synctest.Wait()
		if n := r.holds("secret"); n > 0 {
			t.Errorf("it is left in %d places", n)
		}
	})
}

// TestSweepAfterACrash: who died before his sweep has left the text in the log; who opens the files sweeps it.
func TestSweepAfterACrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecalling(t)
		r.amend(chat.KindRecall, r.say("another secret"), "")
		synctest.Wait()
		r.amend(chat.KindRecall, r.say("secret"), "") // is not swept yet
		again := &recalling{t: t, dir: t.TempDir()}
		if err := os.CopyFS(again.dir, os.DirFS(r.dir)); err != nil {
			t.Fatal(err)
		}
		if again.holds("secret") == 0 {
			t.Fatal("there is nothing to sweep")
		}
		openStore(t, again.dir)
		time.Sleep(sweepEvery)
		synctest.Wait()
		if n := again.holds("secret"); n > 0 {
			t.Errorf("it is left in %d places", n)
		}
	})
}
