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

// secondsSection draws each load over time; false when there is nothing to draw.
func (l *loaded) secondsSection() (section report.Section, ok bool) {
	second := report.Axis{Name: "time since the start", Seconds: true}
	var parts report.Group
	for _, r := range l.Results {
		rates := secondBySecond(r, func(f load.Figures) float64 { return f.PerSecond })
		waits := secondBySecond(r, func(f load.Figures) float64 { return f.At(99).Seconds() })
		if len(rates) == 0 || len(r.Timeline) < 2 {
			continue
		}
		parts = append(parts,
			report.Section{Title: shortTitle(r.Plan) + ": rates", Body: report.Lines{X: second, Y: report.Axis{Name: "a second"}, Series: rates}},
			report.Section{Title: shortTitle(r.Plan) + ": latencies", Body: report.Lines{X: second, Y: report.Axis{Name: "p99", Seconds: true}, Series: waits}})
	}
	return report.Section{Title: "Second by second", Says: "First the users connect; then the load begins.", Body: parts}, len(parts) > 0
}

// secondBySecond returns a line for each series. A second without values is a gap.
func secondBySecond(r load.Result, of func(load.Figures) float64) (all []report.Series) {
	at := map[string]int{}
	for _, m := range r.Timeline {
		for _, f := range m.Series {
			i, known := at[f.Name]
			if !known {
				i, at[f.Name] = len(all), len(all)
				all = append(all, report.Series{Name: f.Name})
			}
			all[i].Points = append(all[i].Points, report.Point{X: m.Second, Y: of(f)})
		}
	}
	return all
}
