package report_test

import (
	"math"
	"time"

	"hongbao/cmd/hongbao-bench/report"
)

// comparison is a page with one picture of each kind, with invented figures.
func comparison() report.Report {
	return report.Report{
		Title:    "Eight ways to grab a red packet",
		Subtitle: "100,000 shares in 1,000 packets, 20 callers, seed 1. A slow scheme had 10 s, and did less.",
		Figures: []report.Figure{
			{Name: "Ours, committed before the answer", Value: "27,300/s", Note: "0.37× lua-list, which stores nothing"},
			{Name: "Promises of ours", Value: "5 of 5", Verdict: report.Held},
			{Name: "Promises of lua-split", Value: "2 of 5", Note: "jams after 8 of 100", Verdict: report.Broken},
		},
		Hardware: []report.Fact{
			{Name: "Processor", Value: "AMD EPYC 7B13, 2 cores"}, {Name: "Memory", Value: "8 GB"},
			{Name: "System", Value: "Linux 6.1, amd64, go1.26"}, {Name: "Engines", Value: "Redis 7.0.15, PostgreSQL 15.8"},
		},
		Command: "hongbao-bench compare --callers 20 --packets 1000 --shares 100 --seed 1 --html compare.html",
		Sections: []report.Section{
			{Title: "Grabs a second", Says: "Each scheme with the same callers, packets and shares, one after the other.", Body: throughput()},
			{Title: "Latency of an answer", Says: "From the call to its answer, retries included.", Body: waits()},
			{Title: "Promises kept", Says: "Observed in this run: each scheme was audited at the end.", Body: kept()},
			{Title: "Many checks", Body: many()},
			{Title: "How each scheme works", Body: report.Table{
				Columns: []report.Column{{Name: "scheme"}, {Name: "from"}, {Name: "how a grab is decided"}, {Name: "retries", Number: true}},
				Rows:    [][]string{{"lua-list", "article 2", "one script pops a share cut before", "0"}, {"optimistic", "article 3", "a version on the packet's row", "41,207"}},
			}},
		},
	}
}

func throughput() report.Bars {
	return report.Bars{Unit: "grabs/s", Beside: "lua-list", Bars: []report.Bar{
		{Name: "lua-split", Note: "article 1", Value: 61_300},
		{Name: "lua-list", Note: "article 2", Value: 74_100},
		{Name: "lock", Note: "article 3", Value: 212},
		{Name: "optimistic", Note: "article 3", Value: 96.4},
		{Name: "pessimistic", Note: "article 3", Value: 1_870},
		{Name: "prealloc", Note: "article 3", Value: 1_240},
		{Name: "redis-queue", Note: "article 3", Value: 5_020},
		{Name: "redis-queue-async", Note: "article 3", Value: math.NaN()},
		{Name: "pool", Note: "ours, in memory", Value: 1_420_000, Ours: true},
		{Name: "hongbao", Note: "ours, committed before the answer", Value: 27_300, Ours: true},
	}}
}

func waits() report.Latencies {
	return report.Latencies{Rows: []report.Latency{
		{Name: "lua-list", P50: 240 * time.Microsecond, P99: 910 * time.Microsecond, P999: 2300 * time.Microsecond},
		{Name: "optimistic", Note: "article 3", P50: 41 * time.Millisecond, P99: 612 * time.Millisecond, P999: 1700 * time.Millisecond},
		{Name: "lock", Note: "did not finish"},
		{Name: "hongbao", Note: "ours", P50: 690 * time.Microsecond, P99: 1900 * time.Microsecond, P999: 6100 * time.Microsecond, Ours: true},
	}}
}

func kept() report.Matrix {
	held, broken := report.Cell{Verdict: report.Held}, report.Broken
	tabulated := func(detail string) report.Cell { return report.Cell{Verdict: broken, Detail: detail} }
	return report.Matrix{
		Checks: []string{"paid what was funded", "no user twice", "no answer lost", "all shares given", "refund right"},
		Rows: []report.Verdicts{
			{Name: "lua-split", Note: "article 1", Cells: []report.Cell{held, held, tabulated("1,204 answered, 0 in the table after a crash"), tabulated("92 of 100 left, all refused"), tabulated("2.13 refunded twice")}},
			{Name: "lua-list", Note: "article 2", Cells: []report.Cell{held, held, tabulated("one second may be lost"), held, {Detail: "has no expiry"}}},
			{Name: "hongbao", Note: "ours", Ours: true, Cells: []report.Cell{{Verdict: report.Held, Detail: "100,000 of 100,000"}, held, held, held, held}},
		},
	}
}

// many is a matrix with more checks than fit side by side.
func many() report.Matrix {
	m := report.Matrix{Checks: []string{"order", "once", "complete", "agreed", "stored", "acknowledged", "books", "sums"}, Brief: true}
	for _, name := range []string{"chat, 200/s", "grab, hot, closed loop"} {
		row := report.Verdicts{Name: name, Cells: make([]report.Cell, len(m.Checks))}
		for i := range row.Cells[1:] {
			row.Cells[i+1] = report.Cell{Verdict: report.Of(i != 3), Detail: name + ", check " + m.Checks[i+1]}
		}
		m.Rows = append(m.Rows, row)
	}
	return m
}
