package main

import (
	"time"

	"hongbao/cmd/hongbao-bench/load"
)

// plans returns the plans that the flags ask for.
func (l *loading) plans() []load.Plan {
	if l.plan.Scenario != mixed {
		return []load.Plan{l.plan}
	}
	all := []load.Plan{
		{Scenario: "idle", Users: 2000, Ramp: 4 * time.Second, Duration: 5 * time.Second},
		{Scenario: "chat", Users: 500, RoomSize: 50, Rate: 200, Ramp: time.Second, Duration: 10 * time.Second},
		{Scenario: "chat", Users: 200, RoomSize: 20, Closed: true, Ramp: time.Second, Duration: 5 * time.Second},
		{Scenario: "grab", Users: 1000, Shares: 500, Rate: 1000, Ramp: 2 * time.Second, Duration: 5 * time.Second},
		{Scenario: "grab", Users: 500, RoomSize: 50, Packets: 100, Shares: 30, Rate: 1000, Ramp: time.Second, Duration: 5 * time.Second},
		{Scenario: "grab", Users: 500, Packets: 40, Shares: 500, Closed: true, Ramp: time.Second, Duration: 5 * time.Second},
		{Scenario: "storm", Users: 2000, RoomSize: 50, Missed: 20, Ramp: 4 * time.Second, Duration: time.Second},
	}
	for i := range all {
		p := &all[i]
		p.RoomSize, p.Packets, p.Shares, p.Rate, p.Seed = max(p.RoomSize, 1), max(p.Packets, 1), max(p.Shares, 1), max(p.Rate, 1), l.plan.Seed
	}
	return all
}
