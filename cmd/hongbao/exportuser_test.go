package main

import (
	"archive/zip"
	"bufio"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hongbao/store"
	"hongbao/store/security"
	"hongbao/store/trail"
)

// TestExportOfOneUser exports a user with texts, a file and money. Others' texts must not be in it.
func TestExportOfOneUser(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	noError(t, os.Mkdir(in("files"), 0o700))
	noError(t, os.WriteFile(in("files/plan"), []byte("the plan"), 0o600))
	noError(t, os.WriteFile(in("archive.jsonl"), []byte(`{"type":"user","id":"ann","name":"Ann","ref":"customer-7","custom":{"tier":"gold"}}
{"type":"user","id":"bob","name":"Bob"}
{"type":"room","id":"r","name":"Room","kind":"private","owner":"ann"}
{"type":"text","room":"r","id":"1","from":"ann","at":1500000000000,"text":"quince of ann"}
{"type":"text","room":"r","id":"2","from":"bob","at":1500000001000,"text":"pear of bob"}
{"type":"text","room":"r","id":"3","from":"ann","at":1500000002000,"files":[{"path":"files/plan","name":"..evil.txt"}]}
{"type":"member","room":"r","user":"bob"}
`), 0o600))
	mustPrint(t, 0, "3 texts, 1 files", "import", "--data-dir", in("data"), "--from", in("archive.jsonl"))
	mustPrint(t, 0, "", "credit", "--data-dir", in("data"), "--user", "ann", "--amount", "500", "--key", "welcome")
	books, err := store.OpenBooks(t.Context(), store.Config{DataDir: in("data")}, slog.New(slog.DiscardHandler))
	noError(t, err)
	noError(t, books.Trail.AddRefusals(t.Context(), []trail.Refusal{{User: "ann", Packet: "p", At: time.Now(), Why: "empty"}, {User: "bob", Packet: "p", At: time.Now(), Why: "empty"}}))
	noError(t, books.Trail.AddSockets(t.Context(), []trail.SocketEvent{{User: "ann", Socket: "s", At: time.Now(), What: trail.SocketLost}, {User: "bob", Socket: "t", At: time.Now(), What: trail.SocketOpened}}))
	for id, request := range map[string]string{"of ann": `{"user":"ann"}`, "of bob": `{"user":"bob"}`} {
		noError(t, books.Security.AddAct(t.Context(), security.Act{ID: id, At: time.Now().Add(-time.Minute), Actor: "key/shop", Method: "suspend_user", Request: request}))
	}
	noError(t, books.Close())

	mustPrint(t, 1, "zip file", "export", "--data-dir", in("data"), "--user", "ann")
	mustPrint(t, 1, "there is no user eve", "export", "--data-dir", in("data"), "--user", "eve", "--to", in("eve.zip"))
	if _, err := os.Stat(in("eve.zip.part")); err == nil {
		t.Error("a broken export has left a file")
	}
	noError(t, os.WriteFile(in("ann.zip.part"), []byte("what an export that was killed has left"), 0o600))
	mustPrint(t, 0, "of ann and 1 files", "export", "--data-dir", in("data"), "--user", "ann", "--to", in("ann.zip"))
	mustPrint(t, 1, "is not replaced", "export", "--data-dir", in("data"), "--user", "ann", "--to", in("ann.zip"))

	read, err := zip.OpenReader(in("ann.zip"))
	noError(t, err)
	defer func() { noError(t, read.Close()) }()
	var types []string
	var path string
	records, err := read.Open(recordsName)
	noError(t, err)
	for lines := bufio.NewScanner(records); lines.Scan(); {
		var r record
		noError(t, json.Unmarshal(lines.Bytes(), &r))
		types = append(types, r.Type+r.Kind)
		switch {
		case strings.Contains(lines.Text(), "pear"):
			t.Errorf("a text of another user: %s", lines.Text())
		case r.Type == "user" && (r.ID != "ann" || r.Name != "Ann" || r.Ref != "customer-7" || string(r.Custom) != `{"tier":"gold"}`):
			t.Errorf("the user is %s", lines.Text())
		case r.Type == "transfer" && r.Amount != 500:
			t.Errorf("the transfer is %s", lines.Text())
		case r.Type == "file":
			path = r.Path
		}
	}
	if want := []string{"user", "roomprivate", "entrytext", "entrytext", "transfercredit", "filefile", "refusal", "socketlost", "act"}; !slices.Equal(types, want) {
		t.Errorf("records %q, want %q", types, want)
	}
	content, err := read.Open(path)
	noError(t, err)
	if text, err := io.ReadAll(content); err != nil || string(text) != "the plan" {
		t.Errorf("the file %s is %q, %v", path, text, err)
	}
	for _, f := range read.File {
		if !filepath.IsLocal(f.Name) || strings.Contains(f.Name, "evil") {
			t.Errorf("the zip file has %s", f.Name)
		}
	}
}
