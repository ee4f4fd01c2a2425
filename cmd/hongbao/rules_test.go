package main

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hongbao/chat/rules"
)

// TestRulesFileIsReadAgain changes the file of the rules. A wrong file changes nothing, and says so in the log.
func TestRulesFileIsReadAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rules.json")
	changed := time.UnixMilli(1_700_000_000_000)
	write := func(text string) {
		t.Helper()
		changed = changed.Add(time.Second)
		noError(t, os.WriteFile(file, []byte(text), 0o600))
		noError(t, os.Chtimes(file, changed, changed))
	}
	now := time.UnixMilli(1_700_000_000_000)
	var log bytes.Buffer
	write(`[{"kind":"words","words":["spam"]}]`)
	f, err := openRules(file, func() time.Time { return now }, slog.New(slog.NewTextHandler(&log, nil)))
	noError(t, err)
	refuses := func(text string) bool { return f.rules().Check(rules.Text{Text: text}).Refused != nil }
	if !refuses("spam") || refuses("eggs") {
		t.Error("the rules of the file are not used")
	}
	write(`[{"kind":"words","words":["eggs"]}]`)
	if refuses("eggs") {
		t.Error("the file is read at each text")
	}
	now = now.Add(rulesEvery)
	if !refuses("eggs") || refuses("spam") {
		t.Error("the changed file is not used")
	}
	for text, want := range map[string]string{`{`: "no JSON list", `[{"kind":"words"}]`: "rule 1: words must be"} {
		write(text)
		now = now.Add(rulesEvery)
		if !refuses("eggs") || !strings.Contains(log.String(), want) {
			t.Errorf("a wrong file changes the rules, or the log has no %q: %s", want, log.String())
		}
	}
	mustPrint(t, 1, "no JSON list of rules", "serve", "--rules-file", writeRules(t, "{"), "--addr", "127.0.0.1:0", "--ops-addr", "127.0.0.1:0", "--data-dir", t.TempDir())
}

func writeRules(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "rules.json")
	noError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}
