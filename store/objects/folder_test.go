package objects

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"hongbao/chat"
	"hongbao/chat/files"
	"hongbao/store/storetest"
)

func newFolder(t *testing.T) *Folder {
	t.Helper()
	f, err := OpenFolder(filepath.Join(t.TempDir(), "parent", "files"))
	noError(t, err)
	return f
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func put(t testing.TB, o files.Objects, name, content string) {
	t.Helper()
	noError(t, o.Put(t.Context(), name, strings.NewReader(content), int64(len(content))))
}

func unavailable(t testing.TB, err error, says ...string) {
	t.Helper()
	if !errors.Is(err, chat.ErrUnavailable) || errors.Is(err, chat.ErrNotFound) || errors.Is(err, files.ErrData) {
		t.Fatalf("%v, want %v", err, chat.ErrUnavailable)
	}
	for _, want := range says {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %q, and does not say %q", err, want)
		}
	}
}

// tree returns the paths of all that is in the folder.
func (f *Folder) tree(t *testing.T) (found []string) {
	t.Helper()
	noError(t, filepath.WalkDir(f.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if want := map[bool]fs.FileMode{true: 0o700, false: 0o600}[d.IsDir()]; info.Mode().Perm() != want {
			t.Errorf("%s has the mode %v, want %v", path, info.Mode().Perm(), want)
		}
		if rel, _ := filepath.Rel(f.root, path); rel != "." {
			found = append(found, filepath.ToSlash(rel))
		}
		return nil
	}))
	return found
}

func TestFolderKeepsTheContract(t *testing.T) {
	storetest.TestObjects(t, func(t *testing.T) files.Objects { return newFolder(t) })
}

// TestFolderIsReadOnceForAWalk adds a folder while a walk is under way. A walk that reads the names of all folders again finds it, and one of n pages
// would read them n times.
func TestFolderIsReadOnceForAWalk(t *testing.T) {
	f := newFolder(t)
	walk := func(meanwhile string) (names []string) {
		for after := ""; ; {
			page, err := f.List(t.Context(), "", after, 2)
			noError(t, err)
			if len(page) == 0 {
				return names
			}
			for _, o := range page {
				names, after = append(names, o.Name), o.Name
			}
			if meanwhile != "" {
				put(t, f, meanwhile, "new")
			}
		}
	}
	all := []string{"a-b/1", "a/1", "a/2", "b/1", "c/1"}
	for _, name := range all {
		put(t, f, name, "old")
	}
	if got := walk("z/1"); !slices.Equal(got, all) {
		t.Errorf("a walk found %v, want what was there at first: %v", got, all)
	}
	if got, want := walk(""), slices.Concat(all, []string{"z/1"}); !slices.Equal(got, want) {
		t.Errorf("the next walk found %v, want %v", got, want)
	}
}

func TestFolderPassesItsCheck(t *testing.T) {
	f := newFolder(t)
	noError(t, Check(t.Context(), f))
	if link, err := f.Link(t.Context(), "room1/file1", files.Headers{}, time.Minute); link != "" || err != nil {
		t.Errorf("a folder gives out the address %q: %v", link, err)
	}
}

func TestLayoutOfAFolder(t *testing.T) {
	f := newFolder(t)
	put(t, f, "room1/file1", "content")
	want := []string{"b5", "b5/room1", "b5/room1/file1", "unfinished"}
	if got := f.tree(t); !slices.Equal(got, want) {
		t.Errorf("the folder has %q, want %q", got, want)
	}
	noError(t, f.Delete(t.Context(), "room1/file1"))
	want = []string{"b5", "unfinished"} // the directory of an empty folder goes
	if got := f.tree(t); !slices.Equal(got, want) {
		t.Errorf("the folder has %q, want %q", got, want)
	}
}

func TestNothingIsLeftOfAFailedPut(t *testing.T) {
	f := newFolder(t)
	for _, data := range []io.Reader{strings.NewReader("short"), strings.NewReader("longer than ten"), iotest.ErrReader(io.ErrUnexpectedEOF)} {
		if err := f.Put(t.Context(), "room1/file1", data, 10); !errors.Is(err, files.ErrData) {
			t.Errorf("%v, want %v", err, files.ErrData)
		}
	}
	if got := f.tree(t); !slices.Equal(got, []string{"unfinished"}) {
		t.Errorf("the folder has %q", got)
	}
}

// TestAbandonedFilesGo has what two killed processes have left: one two days ago, one just now, which may also be a running Put of another process.
func TestAbandonedFilesGo(t *testing.T) {
	f := newFolder(t)
	put(t, f, "room1/file1", "content")
	old, young := filepath.Join(f.unfinished, "1"), filepath.Join(f.unfinished, "2")
	for _, path := range []string{old, young} {
		noError(t, os.WriteFile(path, []byte("half"), 0o600))
	}
	now := time.Now()
	noError(t, os.Chtimes(old, now, now.Add(-2*abandonedAfter)))
	put(t, f, "room1/file2", "content") // looks for nothing: OpenFolder did today
	again, err := OpenFolder(f.root)
	noError(t, err)
	want := []string{"b5", "b5/room1", "b5/room1/file1", "b5/room1/file2", "unfinished", "unfinished/2"}
	if got := again.tree(t); !slices.Equal(got, want) {
		t.Errorf("after a restart the folder has %q, want %q", got, want)
	}
	f.sweep(now.Add(abandonedAfter + time.Hour)) // a process that runs for long
	if got := f.tree(t); slices.Contains(got, "unfinished/2") {
		t.Errorf("after a day the folder has %q", got)
	}
	objects, err := f.List(t.Context(), "", "", 10)
	if noError(t, err); len(objects) != 2 {
		t.Errorf("there are %d objects, want 2", len(objects))
	}
}

func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no /dev/full")
	}
	f := newFolder(t)
	err = f.failed("store room1/file1", fill(full, strings.NewReader("content")))
	unavailable(t, err, f.root, "room1/file1", "the disk is full: free space")
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v, want %v", err, syscall.ENOSPC)
	}
}

// TestAMissingDiskIsNotAMissingObject takes the whole folder away, as if its disk were not mounted.
func TestAMissingDiskIsNotAMissingObject(t *testing.T) {
	f := newFolder(t)
	put(t, f, "room1/file1", "content")
	noError(t, os.Rename(f.root, f.root+".away"))
	_, _, err := f.Get(t.Context(), "room1/file1", 0)
	unavailable(t, err, f.root, "mount its disk")
	unavailable(t, f.Delete(t.Context(), "room1/file1"), "mount its disk")
	_, err = f.List(t.Context(), "", "", 10)
	unavailable(t, err, "mount its disk")
	_, err = f.List(t.Context(), "room1", "", 10)
	unavailable(t, err, "mount its disk")
	unavailable(t, f.Put(t.Context(), "room1/file2", strings.NewReader("x"), 1), "mount its disk")
	if _, err := os.Stat(f.root); err == nil {
		t.Error("a Put has created the folder where the disk should be")
	}
	noError(t, os.Rename(f.root+".away", f.root))
	noError(t, Check(t.Context(), f))
}

func TestAFolderThatIsAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	noError(t, os.WriteFile(path, nil, 0o600))
	_, err := OpenFolder(path)
	unavailable(t, err, path)
}
