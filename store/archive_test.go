package store

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"hongbao/chat"
	"hongbao/chat/archive"
)

func TestWrongLinesAreNamed(t *testing.T) {
	engines, err := OpenForImport(t.Context(), Config{DataDir: t.TempDir()}, quiet)
	noError(t, err)
	defer func() { noError(t, engines.Close()) }()
	room := `{"type":"room","id":"r","kind":"direct","users":["a","b"]}`
	for _, c := range []struct{ line, want string }{
		{`hello`, "line 1: is no JSON object"},
		{`{"type":"channel"}`, `line 1: type is "channel": want user, room, text or member`},
		{`{"type":"user","id":"a","nick":"A"}`, `line 1: json: unknown field "nick"`},
		{`{"type":"user","id":"a"} {}`, "line 1: is no JSON object"},
		{`{"type":"text","room":"x","id":"1","from":"a","at":1,"text":"t"}`, `line 1: room "x" has no line before this one`},
		{`{"type":"room","id":"r","kind":"direct","users":["a"]}`, "line 1: bad_request: users "},
		{`{"type":"room","id":"","name":"R"}`, "line 1: bad_request: id "},
		{`{"type":"room","id":"r","name":"R","users":["a"]}`, "line 1: bad_request: users "},
		{room + "\n" + `{"type":"text","room":"r","id":"","from":"a","at":1,"text":"t"}`, "line 2: bad_request: id "},
		{room + "\n" + `{"type":"text","room":"r","id":"1","from":"a","text":"t"}`, "line 2: bad_request: at "},
		{room + "\n" + `{"type":"text","room":"r","id":"1","from":"a","at":1}`, "line 2: bad_request: text "},
		{room + "\n" + `{"type":"text","room":"r","id":"1","from":"a","at":1,"text":"t","files":[{"path":"x"}]}`, "line 2: bad_request: files "},
		{room + "\n" + `{"type":"text","room":"r","id":"1","from":"a","at":1,"text":"t","reactions":{"ok":["a"]}}`, "line 2: bad_request: reactions "},
		{room + "\n" + `{"type":"text","room":"r","id":"1","from":"a","at":1,"text":"t","reactions":{"👍":["a","a"]}}`, "line 2: bad_request: reactions "},
		{room + "\n" + `{"type":"text","room":"r","id":"1","from":"a","at":1,"text":"` + strings.Repeat("x", 4001) + `"}`, "line 2: too_long: text "},
		{strings.Repeat(" ", archive.LineBytes+1), "line 1: is longer than"},
		{`{"type":"member","room":"x","user":"a"}`, `room "x" has no line before`},
	} {
		_, err := archive.Import(t.Context(), engines.Store, strings.NewReader(c.line), archive.Options{Folder: fstest.MapFS{}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.100s: %v, want %q", c.line, err, c.want)
		}
	}
}

// TestFilesOfAnArchive imports a text with files, exports it and imports that into another installation. A file outside of the folder is refused.
func TestFilesOfAnArchive(t *testing.T) {
	const lines = `{"type":"room","id":"r","name":"R","owner":"ann"}
{"type":"text","room":"r","id":"1","from":"ann","at":1500000000000,"text":"two","files":[{"path":"files/a","name":"a.txt","type":"text/plain"},{"path":"files/b","name":"b"}]}
`
	folder := t.TempDir()
	noError(t, os.Mkdir(filepath.Join(folder, "files"), 0o700))
	noError(t, os.WriteFile(filepath.Join(folder, "files", "a"), []byte("first"), 0o600))
	noError(t, os.WriteFile(filepath.Join(folder, "files", "b"), bytes.Repeat([]byte("second"), 100_000), 0o600))
	noError(t, os.Symlink("/etc/hostname", filepath.Join(folder, "files", "out")))

	first, done := importFolder(t, folder, lines)
	if done.Texts != 1 || done.Files != 2 {
		t.Fatalf("imported %+v, want a text with two files", done)
	}
	copied := t.TempDir()
	root, err := os.OpenRoot(copied)
	noError(t, err)
	defer func() { noError(t, root.Close()) }()
	noError(t, root.Mkdir("files", 0o700))
	var written strings.Builder
	_, err = archive.Export(t.Context(), first.Store, first.Files, archive.Target{Lines: &written, Create: func(path string) (io.WriteCloser, error) { return root.Create(path) }}, nil)
	noError(t, err)
	second, done := importFolder(t, copied, written.String())
	if done.Texts != 1 || done.Files != 2 {
		t.Errorf("imported %+v again, want a text with two files", done)
	}
	if got, want := contents(t, second), contents(t, first); len(got) != 600_065 || got != want || !strings.HasPrefix(got, "a.txt application/octet-stream first\nb application/octet-stream secondsecond") {
		t.Errorf("imported again, the files are %.200q, want %.200q", got, want)
	}

	for _, path := range []string{"../a", "/etc/hostname", "files/out", "files/none", "files"} {
		_, err := importLines(t, first, folder, strings.NewReplacer(`"1"`, `"2"`, "files/a", path).Replace(lines))
		if err == nil || !strings.Contains(err.Error(), "lines 2 to 2: text 2: file "+path) {
			t.Errorf("the file %s: %v, want a refusal", path, err)
		}
	}
}

func importFolder(t *testing.T, folder, lines string) (*Archive, archive.Done) {
	t.Helper()
	a, err := OpenForImport(t.Context(), Config{DataDir: t.TempDir()}, quiet)
	noError(t, err)
	t.Cleanup(func() { _ = a.Close() })
	done, err := importLines(t, a, folder, lines)
	noError(t, err)
	return a, done
}

func importLines(t *testing.T, a *Archive, folder, lines string) (archive.Done, error) {
	t.Helper()
	root, err := os.OpenRoot(folder)
	noError(t, err)
	defer func() { noError(t, root.Close()) }()
	return archive.Import(t.Context(), a.Store, strings.NewReader(lines), archive.Options{Files: a.Files, Folder: root.FS()})
}

// contents returns the files of the only text: name, type and content of each.
func contents(t *testing.T, a *Archive) string {
	t.Helper()
	rooms, _, err := a.Store.RoomRecords(t.Context(), chat.RoomQuery{Limit: 2})
	noError(t, err)
	stored, err := books(a).AllFiles(t.Context(), "", 10)
	noError(t, err)
	var all strings.Builder
	for _, f := range stored {
		c, err := a.Files.Open(t.Context(), chat.System.ID, rooms[0].ID, f.ID, "original")
		noError(t, err)
		data, err := c.Read(t.Context(), 0)
		noError(t, err)
		text, err := io.ReadAll(data)
		noError(t, err)
		noError(t, data.Close())
		fmt.Fprintf(&all, "%s %s %s\n", f.Name, c.Type, text)
	}
	return all.String()
}

func books(a *Archive) sqlEngine { return a.Store.(sqlEngine) }
