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
		if r.Send.TotalCount() < 2 || r.Wallet.TotalCount() < 2 {
			t.Errorf("%s: %d texts and %d reads of wallets, want at least 2 of each", r.Way, r.Send.TotalCount(), r.Wallet.TotalCount())
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
		if strings.Count(row, " ms") != 4 {
			t.Errorf("a way without four latencies: %s", row)
		}
	}
}
