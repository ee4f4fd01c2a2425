package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hongbao/cmd/hongbao-bench/load"
	"hongbao/store/enginetest"
)

// TestLoad runs each scenario at small scale: embedded, and on two instances over Redis and Postgres.
func TestLoad(t *testing.T) {
	enginetest.Nightly(t, "bench")
	binary := builtHongbao(t)
	for _, args := range []string{
		"--scenario idle --users 20 --duration 200ms --embedded",
		"--scenario chat --users 20 --room-size 7 --rate 100 --duration 500ms --embedded",
		"--scenario chat --users 20 --room-size 7 --closed --duration 300ms --instances 2",
		"--scenario grab --users 40 --shares 10 --rate 200 --duration 500ms --instances 2",
		"--scenario grab --users 40 --packets 5 --shares 30 --rate 300 --duration 500ms --embedded",
		"--scenario grab --users 40 --packets 3 --shares 40 --closed --duration 10s --embedded",
		"--scenario storm --users 40 --room-size 10 --missed 5 --instances 2",
	} {
		t.Run(args, func(t *testing.T) {
			if strings.Contains(args, "--instances") {
				enginetest.Need(t, "Redis and Postgres")
			}
			t.Parallel() // most of the time servers start, or the test waits
			playLoad(t, args+" --ramp 100ms --hongbao "+binary)
		})
	}
}

// playLoad runs a load and checks its output.
func playLoad(t *testing.T, args string) {
	t.Helper()
	dir := t.TempDir()
	file, page := filepath.Join(dir, "new", "load.json"), filepath.Join(dir, "new", "load.html")
	code, out, said := run(t, append([]string{"load", "--json", file, "--html", page}, strings.Fields(args)...)...)
	if code != 0 {
		t.Fatalf("exit %d\n%s\n%s", code, out, said)
	}
	var l loaded
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &l)
	}
	if err != nil || len(l.Results) != 1 {
		t.Fatalf("%v, %d results", err, len(l.Results))
	}
	checkLoaded(t, args, l.Results[0], out)
	if text, err := os.ReadFile(page); err != nil || !bytes.Contains(text, []byte("every command answered")) {
		t.Errorf("the page: %v\n%.300s", err, text)
	}
}

// checkLoaded checks that the load did its work, and that its checks were made.
func checkLoaded(t *testing.T, args string, r load.Result, out string) {
	t.Helper()
	want := map[string][]int64{ // series, and the least count
		"idle":  {20, 0},
		"chat":  {20, 20}, // a busy machine answers few in so short a time
		"grab":  {40, 20},
		"storm": {40, 40},
	}[r.Plan.Scenario]
	name := map[string]string{"chat": "send acknowledged", "grab": load.Won, "storm": load.Reconnect}[r.Plan.Scenario]
	if r.Of("connect").Count != want[0] || r.Of(name).Count < want[1] {
		t.Errorf("%s: %d connected, %s %d\n%s", args, r.Of("connect").Count, name, r.Of(name).Count, out)
	}
	if r.Plan.Scenario == "chat" && r.Of("message delivered").Count < 6*r.Of(name).Count {
		t.Errorf("%s: %+v", args, r.Series)
	}
	for _, c := range r.Checks {
		idle := r.Plan.Scenario == "idle" && c.Seen == 0
		grab := r.Plan.Scenario == "grab" && c.Name == "acknowledged entries are stored once"
		books := c.Name == "the books balance" && r.Plan.Scenario != "grab"
		if !c.Held || c.Seen == 0 && !idle && !grab && !books && !(r.Plan.Scenario == "storm" && strings.HasPrefix(c.Name, "every command")) {
			t.Errorf("%s: %+v", args, c)
		}
	}
	if len(r.Parts) < 3 || r.Operation == "" || r.Bottleneck == "" || !strings.Contains(out, "bottleneck: ") {
		t.Errorf("%s: %+v\n%s", args, r.Parts, out)
	}
}

// TestLoadOfRunningInstallation loads a running installation by its secret.
func TestLoadOfRunningInstallation(t *testing.T) {
	enginetest.Nightly(t, "bench")
	in := smallInstallation(t)
	code, out, said := run(t, "load", "--url", in.instances[0].open, "--jwt-secret", in.target.Tokens.Secret,
		"--scenario", "grab", "--users", "10", "--shares", "5", "--rate", "50", "--duration", "300ms", "--ramp", "0s")
	if code != 0 || !strings.Contains(out, "the books balance: yes") {
		t.Errorf("exit %d\n%s\n%s", code, out, said)
	}
}

func TestLoadNotUnderstood(t *testing.T) {
	for args, want := range map[string]string{
		"--scenario party":                         "party",
		"--users 5":                                "--users needs one --scenario",
		"--scenario chat --users 0":                "--users must be at least 1",
		"--scenario chat --users 1000000":          "ulimit",
		"--scenario chat --room-size 0":            "--room-size",
		"--scenario grab --shares 20000":           "--shares",
		"--scenario grab --packets 0":              "--packets",
		"--scenario chat --rate 0":                 "--rate",
		"--scenario chat --duration 0s":            "--duration",
		"--scenario storm --missed -1":             "--missed",
		"--scenario chat --ramp -1s":               "--ramp",
		"--url http://127.0.0.1:1":                 "--url needs --jwt-secret",
		"--url http://x --jwt-secret s --embedded": "--embedded cannot be combined with --url",
		"--jwt-secret s":                           "--jwt-secret needs --url",
		"--instances 0":                            "--instances",
		"--embedded --instances 2":                 "--embedded allows one",
		"--url http://x --jwt-secret short":        "32",
	} {
		if code, out, said := run(t, append([]string{"load"}, strings.Fields(args)...)...); code != 1 || out != "" || !strings.Contains(said, want) {
			t.Errorf("%s: exit %d, %q, %q", args, code, out, said)
		}
	}
}

// TestLoadIsInterrupted checks that an interrupted load ends at once and leaves nothing behind.
func TestLoadIsInterrupted(t *testing.T) {
	enginetest.Nightly(t, "bench")
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Second)
	defer stop()
	var out, said bytes.Buffer
	began := time.Now()
	code := (&program{stdout: &out, stderr: &said}).run(ctx, []string{"load", "--embedded", "--hongbao", builtHongbao(t), "--scenario", "idle", "--users", "5", "--duration", "1m", "--ramp", "0s"})
	if took := time.Since(began); code != 1 || took > 30*time.Second {
		t.Errorf("exit %d after %v: %s", code, took, said.String())
	}
}
