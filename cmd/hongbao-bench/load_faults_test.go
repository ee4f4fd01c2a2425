package main

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hongbao/cmd/hongbao-bench/load"
	"hongbao/store/enginetest"
)

// TestLoadFindsFaults puts a faultProxy between the load and the server, for each kind of fault. The load must report
// the fault.
func TestLoadFindsFaults(t *testing.T) {
	enginetest.Nightly(t, "bench")
	in := smallInstallation(t)
	seq := regexp.MustCompile(`"id":"[^"]*","at"`)
	amount := regexp.MustCompile(`"amount":[0-9]+`)
	won := []byte(`"outcome":"won"`)
	var first atomic.Pointer[[]byte]
	for name, c := range map[string]struct {
		scenario string
		change   func([][]byte) [][]byte
		want     string
	}{
		"a lost entry":     {"chat", nth(20, func([]byte) [][]byte { return nil }), "each journal complete"},
		"an entry twice":   {"chat", nth(20, func(l []byte) [][]byte { return [][]byte{l, l} }), "no entry twice in a journal"},
		"another entry":    {"chat", nth(20, func(l []byte) [][]byte { return [][]byte{seq.ReplaceAll(l, []byte(`"id":"x","at"`))} }), "all journals agree"},
		"another amount":   {"grab", eachWon(won, func(l []byte) []byte { return amount.ReplaceAll(l, []byte(`"amount":123456`)) }), "winners and sums as stored"},
		"another's share":  {"grab", eachWon(won, sameShare(&first)), "one user a share, one share a user"},
		"an early end":     {"grab", eachWon(won, func(l []byte) []byte { return bytes.Replace(l, won, []byte(`"outcome":"empty"`), 1) }), "no refusal while shares are left"},
		"another seq sent": {"chat", wrongAck(), "acknowledged entries are stored once"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // each waits for missing data
			result := loadThroughProxy(t, in, c.scenario, c.change)
			i := slices.IndexFunc(result.Checks, func(one load.Check) bool { return one.Name == c.want })
			if i < 0 || result.Checks[i].Held || result.OK() {
				t.Fatalf("the fault was not found: %+v", result.Checks)
			}
			if err := (&loaded{Results: []load.Result{result}}).verdict(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Error(err)
			}
		})
	}
}

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

// eachWon changes the answers to winners.
func eachWon(won []byte, change func([]byte) []byte) func([][]byte) [][]byte {
	return func(lines [][]byte) [][]byte {
		for i, line := range lines {
			if bytes.Contains(line, won) {
				lines[i] = change(line)
			}
		}
		return lines
	}
}

// sameShare gives every winner the first winner's share.
func sameShare(first *atomic.Pointer[[]byte]) func(line []byte) []byte {
	return func(line []byte) []byte {
		head, rest, _ := bytes.Cut(line, []byte(`,"rpc"`))
		kept := bytes.Clone(rest)
		first.CompareAndSwap(nil, &kept)
		return slices.Concat(head, []byte(`,"rpc"`), *first.Load())
	}
}

// wrongAck changes the seq in a reply to a send.
func wrongAck() func([][]byte) [][]byte {
	id := regexp.MustCompile(`"id":"[^"]*"`)
	return func(lines [][]byte) [][]byte {
		for i, line := range lines {
			if bytes.Contains(line, []byte(`"dup":`)) {
				lines[i] = id.ReplaceAll(line, []byte(`"id":"x"`))
			}
		}
		return lines
	}
}

// loadThroughProxy runs a small load through a faultProxy.
func loadThroughProxy(t *testing.T, in *installation, scenario string, change func([][]byte) [][]byte) load.Result {
	t.Helper()
	l := newFaultProxy(t, in.instances[0].open, change)
	defer l.Close()
	target := load.NewTarget([]string{l.URL}, in.target.Tokens, nil)
	defer target.Close()
	r, err := load.Run(t.Context(), target, load.Plan{
		Scenario: scenario, Users: 10, RoomSize: 5, Packets: 1, Shares: 8, Rate: 50, Duration: 400 * time.Millisecond,
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
	result := loadThroughProxy(t, smallInstallation(t), "chat", func(lines [][]byte) [][]byte {
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
