package main

import (
	"archive/zip"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hongbao/chat"
	"hongbao/store"
)

// TestArchiveCommands converts an export of Slack, imports it twice, exports it and imports that into another installation.
func TestArchiveCommands(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	slackExport(t, in("slack.zip"))
	noError(t, os.WriteFile(in("ids.csv"), []byte("U1,ann\n"), 0o600))

	mustPrint(t, 1, "--zip", "slack")
	mustPrint(t, 1, "--to", "slack", "--zip", in("slack.zip"))
	mustPrint(t, 0, "2 users, 1 rooms, 2 texts", "slack", "--zip", in("slack.zip"), "--to", in("slack.jsonl"), "--ids", in("ids.csv"))
	mustPrint(t, 1, "is not replaced", "slack", "--zip", in("slack.zip"), "--to", in("slack.jsonl"))
	mustPrint(t, 1, "ids.csv: line 1", "slack", "--zip", in("slack.zip"), "--to", in("other.jsonl"), "--ids", badIDs(t, in("ids.csv")))

	mustPrint(t, 1, "--from", "import", "--data-dir", in("one"))
	mustPrint(t, 0, "imported: 2 users, 1 rooms, 1 members, 2 texts, 0 files", "import", "--data-dir", in("one"), "--from", in("slack.jsonl"))
	mustPrint(t, 0, "2 texts were imported before", "import", "--data-dir", in("one"), "--from", in("slack.jsonl"))

	mustPrint(t, 1, "--to", "export", "--data-dir", in("one"))
	mustPrint(t, 1, "no database", "export", "--data-dir", in("none"), "--to", in("archive"))
	mustPrint(t, 0, "2 users, 1 rooms, 2 members, 2 texts", "export", "--data-dir", in("one"), "--to", in("archive"))
	mustPrint(t, 1, "is not replaced", "export", "--data-dir", in("one"), "--to", in("archive"))
	lines, err := os.ReadFile(in("archive/archive.jsonl"))
	if err != nil || !strings.Contains(string(lines), `"from":"ann","name":"Ann","at":1500100001000,"text":"hello"`) {
		t.Errorf("the archive is %s, %v", lines, err)
	}
	mustPrint(t, 0, "imported: 2 users, 1 rooms, 1 members, 2 texts", "import", "--data-dir", in("two"), "--from", in("archive/archive.jsonl"))
	mustPrint(t, 0, "the books balance", "audit", "--data-dir", in("two"))

	noError(t, os.WriteFile(in("wrong.jsonl"), []byte("{\"type\":\"user\",\"id\":\"ann\"}\nhello\n"), 0o600))
	mustPrint(t, 1, "line 2: is no JSON object", "import", "--data-dir", in("two"), "--from", in("wrong.jsonl"))
	mustPrint(t, 1, "no such file", "import", "--data-dir", in("two"), "--from", in("none.jsonl"))
}

// TestImportedTextsAreFound imports a room with more texts than a search looks at outside the index, with the search and without. With it, the oldest text must be found at once,
// also if an import without it came before.
func TestImportedTextsAreFound(t *testing.T) {
	dir := t.TempDir()
	var lines strings.Builder
	lines.WriteString(`{"type":"user","id":"ann","name":"Ann"}
{"type":"room","id":"r","name":"Room","kind":"private","owner":"ann"}
{"type":"text","room":"r","id":"old","from":"ann","at":1500000000000,"text":"the harbour 夜里的港口"}
`)
	for n := range 1200 {
		fmt.Fprintf(&lines, `{"type":"text","room":"r","id":"t%d","from":"ann","at":%d,"text":"line %d"}`+"\n", n, 1500000001000+n, n)
	}
	file := filepath.Join(dir, "archive.jsonl")
	noError(t, os.WriteFile(file, []byte(lines.String()), 0o600))
	mustPrint(t, 0, "1201 texts", "import", "--data-dir", filepath.Join(dir, "data"), "--from", file, "--search", "off")
	for n, search := range []string{"off", "on"} {
		mustPrint(t, 0, "1201 texts were imported before", "import", "--data-dir", filepath.Join(dir, "data"), "--from", file, "--search", search)
		if found := searchAs(t, filepath.Join(dir, "data"), "ann", "港口"); len(found.Hits) != n || found.Behind != (search == "off") {
			t.Errorf("with the search %s: %d hits, behind %t", search, len(found.Hits), found.Behind)
		}
	}
}

// searchAs searches as a server does that has just started.
func searchAs(t *testing.T, dir, user, words string) chat.Found {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	engines, err := store.Open(t.Context(), store.Config{DataDir: dir}, log)
	noError(t, err)
	defer func() { noError(t, engines.Close()) }()
	made, err := wireUp(t.Context(), config{
		DataDir: dir, Guests: guestsOff, JWTSecret: strings.Repeat("s", 32), MaxPacketTotal: 1000, MaxPacketCount: 10, Currency: currency{Code: "CNY", Exponent: 2},
	}, "node", engines, log)
	noError(t, err)
	found, err := made.rooms.Search(t.Context(), words, chat.Search{User: user})
	noError(t, err)
	return found
}

// TestExampleOfAnArchive imports the example of the documents.
func TestExampleOfAnArchive(t *testing.T) {
	page, err := os.ReadFile("../../web/docs/archive.md")
	noError(t, err)
	_, rest, _ := strings.Cut(string(page), "```json\n")
	example, _, _ := strings.Cut(rest, "```")
	file := filepath.Join(t.TempDir(), "archive.jsonl")
	noError(t, os.WriteFile(file, []byte(example), 0o600))
	mustPrint(t, 0, "imported: 2 users, 2 rooms, 1 members, 2 texts", "import", "--data-dir", t.TempDir(), "--from", file)
}

func slackExport(t *testing.T, file string) {
	t.Helper()
	f, err := os.Create(file)
	noError(t, err)
	w := zip.NewWriter(f)
	for name, text := range map[string]string{
		"users.json":              `[{"id":"U1","name":"ann","profile":{"real_name":"Ann"}},{"id":"U2","name":"bob"}]`,
		"channels.json":           `[{"id":"C1","name":"general","created":1500000000,"creator":"U1","members":["U1","U2"]}]`,
		"general/2017-07-15.json": `[{"type":"message","user":"U1","text":"hello","ts":"1500100001.000100"},{"type":"message","user":"U2","text":"hi","ts":"1500100002.000100"}]`,
	} {
		entry, err := w.Create(name)
		noError(t, err)
		_, err = entry.Write([]byte(text))
		noError(t, err)
	}
	noError(t, w.Close())
	noError(t, f.Close())
}

func badIDs(t *testing.T, file string) string {
	t.Helper()
	noError(t, os.WriteFile(file, []byte("U1,no spaces please\n"), 0o600))
	return file
}
