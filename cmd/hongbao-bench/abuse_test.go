package main

import (
	"strings"
	"testing"
)

// TestAbuse lets two honest users act beside two attackers for a moment. Each way must be measured.
func TestAbuse(t *testing.T) {
	t.Parallel()
	code, out, said := run(t, "abuse", "--users", "2", "--duration", "300ms", "--embedded", "--hongbao", builtHongbao(t))
	if code != 0 {
		t.Fatalf("exit %d\n%s\n%s", code, out, said)
	}
	rows := strings.Split(strings.TrimSpace(out), "\n")
	if len(rows) != 8 {
		t.Errorf("%d lines, want a head and 7 ways:\n%s", len(rows), out)
	}
	for _, row := range rows[1:] {
		if strings.Count(row, " ms") != 4 || strings.Contains(row, " 0.0 ms") {
			t.Errorf("a way without four latencies: %s", row)
		}
	}
}
