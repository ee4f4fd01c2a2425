package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hongbao/cmd/hongbao-bench/measure"
	"hongbao/store/enginetest"
)

// TestMain also runs the processes of the echo server and of the peers of a broadcast.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == "echo" || os.Args[1] == "fanout") {
		os.Exit((&program{stdout: os.Stdout, stderr: os.Stderr}).run(context.Background(), os.Args[1:]))
	}
	goleak.VerifyTestMain(cleanedUp{m})
}

func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, said bytes.Buffer
	code = (&program{stdout: &out, stderr: &said}).run(t.Context(), args)
	return code, out.String(), said.String()
}

func TestHelp(t *testing.T) {
	code, out, _ := run(t, "help")
	for _, want := range []string{"engines", "--rounds", "(5)", "--budget", "--json"} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("exit %d, the output does not contain %q:\n%s", code, want, out)
		}
	}
	if c, again, _ := run(t); c != 0 || again != out {
		t.Errorf("without arguments: exit %d\n%s", c, again)
	}
}

func TestNotUnderstood(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"engine", 2, "unknown subcommand"},
		{"engines --fast", 2, "fast"},
		{"engines pool", 2, "pool"},
		{"engines --only pool,door", 1, "door"},
		{"engines --rounds 0", 1, "--rounds"},
		{"engines --budget 0s", 1, "--budget"},
		{"abuse --users 0", 1, "--users"},
		{"abuse --duration 0s", 1, "--duration"},
		{"abuse --users 1 --duration 1ms --embedded --hongbao missing/program", 1, "missing/program"},
	} {
		code, out, said := run(t, strings.Fields(c.args)...)
		if code != c.code || out != "" || !strings.Contains(said, c.want) {
			t.Errorf("%s: exit %d, %q, %q", c.args, code, out, said)
		}
	}
}

// TestEngines runs every match once at small scale. The matches check their results themselves.
func TestEngines(t *testing.T) {
	enginetest.Nightly(t, "bench")
	enginetest.Need(t, "Redis and Postgres")
	var out, said bytes.Buffer
	e := &engines{rounds: 1, hongbao: builtHongbao(t), budget: 100 * time.Millisecond, json: true, size: size{hot: 150, packets: 20, repeaters: 20, winners: 50, listeners: 20}}
	p := &program{stdout: &out, stderr: &said}
	e.say = p.say
	if err := e.run(t.Context(), p); err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	var results []measure.Result
	if err := json.Unmarshal(out.Bytes(), &results); err != nil {
		t.Fatal(err)
	}
	if len(results) != 17 {
		t.Errorf("%d results, want 17", len(results))
	}
	for _, r := range results {
		if r.Ours.Median <= 0 || r.Peer.Median <= 0 || r.AtLeast <= 0 || len(r.Ours.Rounds) != 1 {
			t.Errorf("%+v", r)
		}
		if !strings.Contains(said.String(), r.Name+", round 1 of 1") {
			t.Errorf("no progress of %s was logged", r.Name)
		}
	}
}
