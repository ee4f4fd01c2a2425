package main

import (
	"fmt"

	"hongbao/cmd/hongbao-bench/load"
	"hongbao/cmd/hongbao-bench/report"
)

// shortTitle returns a plan's name that fits over a column.
func shortTitle(p load.Plan) string {
	pace := report.Amount(p.Rate) + "/s"
	if p.Closed {
		pace = "closed loop"
	}
	switch {
	case p.Scenario == "grab" && p.Packets > 1 && !p.Closed:
		return fmt.Sprintf("grab, %d packets, %s", p.Packets, pace)
	case p.Scenario == "grab":
		return "grab, hot, " + pace
	case p.Scenario == "chat":
		return "chat, " + pace
	}
	return p.Scenario
}

// carried returns the main figures: the highest rate of each kind over all plans.
func (l *loaded) carried() (all []report.Figure) {
	for _, kind := range []struct{ series, name string }{
		{load.Won, "Grabs won a second"}, {load.Delivered, "Messages delivered a second"}, {load.Reconnect, "Users reconnected a second, after a storm"},
	} {
		var most load.Figures
		var where string
		for _, r := range l.Results {
			if f := r.Of(kind.series); f.PerSecond > most.PerSecond {
				most, where = f, shortTitle(r.Plan)
			}
		}
		if most.Count > 0 {
			all = append(all, report.Figure{
				Name: kind.name, Value: report.Amount(most.PerSecond),
				Note: fmt.Sprintf("%s; p99 %s", where, report.Duration(most.At(99))),
			})
		}
	}
	return all
}
