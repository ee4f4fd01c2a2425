package main

import (
	"testing"
	"time"

	"hongbao/cmd/hongbao-bench/load"
)

func TestLoadPage(t *testing.T) {
	won := func(rate, p99 float64) []load.Figures {
		return []load.Figures{{Name: load.Won, Count: 100, PerSecond: rate, Percentiles: []float64{1, 2, p99, p99 + 1}}}
	}
	checks := []load.Check{{Name: "the books balance", Held: true, Seen: 12}, {Name: "each journal in order", Faults: 2, Detail: "entry 4 comes after 5"}}
	l := loaded{
		Installation: "one hongbao", Command: "hongbao-bench load", At: time.Unix(0, 0),
		Results: []load.Result{
			{Plan: load.Plan{Scenario: "grab", Users: 10, Packets: 5, Shares: 4, Rate: 1000}, Series: won(990, 3), Checks: checks, Bottleneck: "redis: its one thread is busy"},
			{Plan: load.Plan{Scenario: "grab", Users: 10, Packets: 1, Shares: 4, Closed: true}, Series: won(2500, 7.5), Checks: checks[:1],
				Operation: "grab", Parts: []load.Part{{Name: "server", Micros: 72.25}, {Name: "redis", Micros: 12.04}}},
			{Plan: load.Plan{Scenario: "idle", Users: 10}},
		},
	}
	page := shownPage(t, l.page())
	wants(t, page, "grab, 5 packets, 1,000/s", "grab, hot, closed loop", "<strong>2,500</strong>", "grab, hot, closed loop; p99 7.5 ms",
		"<strong>2 of 3</strong>", "entry 4 comes after 5", "redis: its one thread is busy", "hongbao-bench load",
		"<th scope=\"col\" class=\"number\">redis", "72.2", "12.0")
}
