package files_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/chat/files"
	"hongbao/store/objects"
)

func (f *fixture) examine(content bool) (all []string) {
	f.Helper()
	_, err := files.Examine(f.Context(), f.rows, f.objects, files.Examining{Content: content}, func(name, what string) {
		all = append(all, fmt.Sprint(name[strings.Index(name, "/")+1:][:4], " ", what))
	})
	noError(f.T, err)
	return all
}

func (f *fixture) put(name, content string) {
	f.Helper()
	noError(f.T, f.objects.Objects.Put(f.Context(), name, strings.NewReader(content), int64(len(content))))
}

// TestExamineFindsEachDifference changes the object store behind the rows.
func TestExamineFindsEachDifference(t *testing.T) {
	f := newFixture(t)
	s, err := f.upload(ann, files.Upload{Kind: chat.PictureFile}, testPNG(t, 400))
	noError(t, err)
	shared := f.uploaded(ann, []byte("shared"))
	f.uploaded(bob, []byte("shared"))
	f.begin(ann, 3*files.PieceBytes) // it stays incomplete
	noError(t, f.Cancel(t.Context(), ann.ID, f.room, f.uploaded(ann, []byte("dropped")).ID))
	if found := f.examine(true); len(found) != 0 {
		t.Fatalf("at first: %v", found)
	}
	small := s.ID + "/" + fmt.Sprintf("%x", s.Hash) + ".small"
	sharedName := shared.ID + "/" + fmt.Sprintf("%x", shared.Hash)
	f.put(sharedName, "SHARED")
	if found := f.examine(false); len(found) != 0 {
		t.Errorf("only the content differs, and is not examined: %v", found)
	}
	if found := f.examine(true); len(found) != 2 || !strings.Contains(found[0], "has another content") {
		t.Errorf("another content: %v", found)
	}
	f.put(sharedName, "longer than it was")
	if found := f.examine(false); len(found) != 2 || !strings.Contains(found[0], "has 18 bytes, want 6") {
		t.Errorf("another size: %v", found)
	}
	noError(t, f.objects.Delete(t.Context(), small, sharedName))
	if found := f.examine(false); len(found) != 3 || !strings.Contains(strings.Join(found, "\n"), "is missing") {
		t.Errorf("missing: %v", found)
	}
	f.put("00000000-none/aaaa", "x")
	f.put("zzzz/bbbb", "x")
	before := len(f.examine(false))
	f.age("00000000-none/aaaa", 2*time.Hour)
	f.age("zzzz/bbbb", 2*time.Hour)
	if found := f.examine(false); len(found) != before+2 || !slices.Contains(found, "aaaa no file needs it") || !slices.Contains(found, "bbbb no file needs it") {
		t.Errorf("too many: %v", found)
	}
}

// TestUnneededObjectsAreRemoved has two objects that no file needs, one of them two days old. Only that one may be removed, and none if the database has no
// file.
func TestUnneededObjectsAreRemoved(t *testing.T) {
	f := newFixture(t)
	remove := func() (e files.Examined, found []string, err error) {
		e, err = files.Examine(t.Context(), f.rows, f.objects, files.Examining{RemoveUnneeded: true}, func(name, what string) { found = append(found, name+" "+what) })
		return e, found, err
	}
	f.put("0000/old", "x")
	f.put("zzzz/new", "x")
	f.age("0000/old", 48*time.Hour)
	f.age("zzzz/new", 2*time.Hour)
	if _, _, err := remove(); err == nil || len(f.stored()) != 2 {
		t.Errorf("without any file: %v, and %v are left", err, f.stored())
	}
	s := f.uploaded(ann, []byte("needed"))
	f.age(s.ID+"/"+fmt.Sprintf("%x", s.Hash), 48*time.Hour)
	e, found, err := remove()
	noError(t, err)
	if want := []string{"zzzz/new no file needs it"}; e.Removed != 1 || !slices.Equal(found, want) || slices.Contains(f.stored(), "0000/old") || len(f.stored()) != 2 {
		t.Errorf("removed %d, found %v, left %v", e.Removed, found, f.stored())
	}
}

// age makes an object in the folder this old.
func (f *fixture) age(name string, by time.Duration) {
	f.Helper()
	found, err := filepath.Glob(filepath.Join(f.dir, "files", "*", filepath.FromSlash(name)))
	noError(f.T, err)
	if len(found) != 1 {
		f.Fatalf("%s is at %v", name, found)
	}
	old := time.Now().Add(-by)
	noError(f.T, os.Chtimes(found[0], old, old))
}

func TestCopyOfObjectsGoesOn(t *testing.T) {
	f := newFixture(t)
	for n := range 3 {
		f.uploaded(ann, bytes.Repeat([]byte{byte(n)}, 100+n))
	}
	to, err := objects.OpenFolder(t.TempDir())
	noError(t, err)
	copied := &faultyObjects{Objects: to}
	copied.failing(func(call, _ string) error {
		if call == "put" && len(copied.puts) == 2 {
			return chat.ErrUnavailable
		}
		return nil
	})
	if _, err := files.CopyObjects(t.Context(), f.objects, copied, func(files.Examined) {}); err == nil {
		t.Fatal("it did not fail")
	}
	copied.failing(nil)
	done, err := files.CopyObjects(t.Context(), f.objects, copied, func(files.Examined) {})
	noError(t, err)
	if done.Objects != 3 || done.Bytes != 303 || len(copied.puts) != 4 {
		t.Errorf("copied %+v with %d puts", done, len(copied.puts))
	}
	if _, err := files.Examine(t.Context(), f.rows, copied, files.Examining{Content: true}, func(name, what string) { t.Errorf("%s %s", name, what) }); err != nil {
		t.Error(err)
	}
}
