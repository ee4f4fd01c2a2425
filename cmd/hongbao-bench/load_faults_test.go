package main

import (
	"bytes"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hongbao/cmd/hongbao-bench/load"
	"hongbao/store/enginetest"
)

// TestLoadNamesViolatedChecks runs a load with a fault. The output must name the violated check, and the exit code
// must be 1.
func TestLoadNamesViolatedChecks(t *testing.T) {
	enginetest.Nightly(t, "bench")
	in := smallInstallation(t)
	l := newFaultProxy(t, in.instances[0].open, nth(20, func(line []byte) [][]byte { return [][]byte{line, line} }))
	code, out, said := run(t, "load", "--url", l.URL, "--jwt-secret", in.target.Tokens.Secret, "--scenario", "chat", "--users", "10", "--room-size", "5",
		"--rate", "50", "--duration", "400ms", "--ramp", "0s")
	if code != 1 || !strings.Contains(said, "violated: no entry twice in a journal") || !strings.Contains(out, "no entry twice in a journal: NO, 1 times") {
		t.Errorf("exit %d\n%s\n%s", code, out, said)
	}
}

// loadThroughProxy runs a small load through a faultProxy.
func loadThroughProxy(t *testing.T, in *installation, change func([][]byte) [][]byte) load.Result {
	t.Helper()
	l := newFaultProxy(t, in.instances[0].open, change)
	defer l.Close()
	target := load.NewTarget([]string{l.URL}, in.target.Tokens, nil)
	defer target.Close()
	r, err := load.Run(t.Context(), target, load.Plan{
		Scenario: "chat", Users: 10, RoomSize: 5, Packets: 1, Shares: 8, Rate: 50, Duration: 400 * time.Millisecond,
	}, func(string, ...any) {})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestLoadOverCuts breaks many connections during a load. Nothing may be lost, and all checks must hold.
func TestLoadOverCuts(t *testing.T) {
	enginetest.Nightly(t, "bench")
	var frames, answers atomic.Int64
	result := loadThroughProxy(t, smallInstallation(t), func(lines [][]byte) [][]byte {
		answer := bytes.Contains(bytes.Join(lines, nil), []byte(`"dup":`))
		if frames.Add(1)%40 == 0 || answer && answers.Add(1)%4 == 0 { // a lost reply makes the client repeat the command
			return nil
		}
		return lines
	})
	if !result.OK() || result.Lost == 0 || result.Resent == 0 || result.Of(load.Reconnect).Count == 0 {
		t.Errorf("%d connections lost, %d commands repeated, %d reconnects: %+v", result.Lost, result.Resent, result.Of(load.Reconnect).Count, result.Checks)
	}
}
