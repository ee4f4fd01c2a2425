package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"hongbao/cmd/hongbao-bench/load"
	"hongbao/store/enginetest"
)

// TestAbuse lets two honest users act beside two attackers for a moment. Each way must be measured and printed.
func TestAbuse(t *testing.T) {
	enginetest.Nightly(t, "bench")
	t.Parallel()
	plan := load.Abuse{Users: 2, Duration: 300 * time.Millisecond}
	results, err := runAbuse(t.Context(), installed{binary: builtHongbao(t), embedded: true}, plan)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Send.TotalCount() < 2 || r.History.TotalCount() < 2 || r.Wallet.TotalCount() < 2 {
			t.Errorf("%s: %d texts, %d reads of the history and %d of wallets, want at least 2 of each", r.Way, r.Send.TotalCount(), r.History.TotalCount(), r.Wallet.TotalCount())
		}
	}
	var out bytes.Buffer
	if err := (&program{stdout: &out}).printAbuse(plan, results); err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(rows) != 8 {
		t.Errorf("%d lines, want a head and 7 ways:\n%s", len(rows), out.String())
	}
	for _, row := range rows[1:] {
		if strings.Count(row, " ms") != 6 {
			t.Errorf("a way without six latencies: %s", row)
		}
	}
}

// TestHeavyReadsOfOneUser lets one user make the heaviest reads of a filled database. Each must succeed.
func TestHeavyReadsOfOneUser(t *testing.T) {
	enginetest.Nightly(t, "bench")
	t.Parallel()
	results, err := runAbuse(t.Context(), installed{binary: builtHongbao(t), embedded: true, scale: 0.0005}, load.Abuse{Users: 2, Duration: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != 2 || results[0].Attacks != 0 || results[1].Attacks == 0 {
		t.Errorf("%+v, want a run without attack, and one with", results)
	}
}
