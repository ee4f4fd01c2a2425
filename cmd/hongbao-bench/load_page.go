package main

import (
	"fmt"

	"hongbao/cmd/hongbao-bench/load"
	"hongbao/cmd/hongbao-bench/report"
)

// page returns the report with charts.
func (l *loaded) page() report.Report {
	r := report.Report{
		Title: "Load test of hongbao", Subtitle: l.Installation,
		Hardware: hardware(l.Hardware, l.At), Command: l.Command,
	}
	if len(l.Results) > 0 {
		r.Figures = append(l.carried(), l.checkedFigure())
		r.Sections = append(r.Sections, l.ratesSection(), l.latenciesSection(), l.checksSection(), l.partsSection())
	}
	return r
}

// checkedFigure returns how many of the checks held.
func (l *loaded) checkedFigure() report.Figure {
	checked, held := 0, 0
	for _, r := range l.Results {
		for _, c := range r.Checks {
			checked++
			if c.Held {
				held++
			}
		}
	}
	return report.Figure{
		Name: "Checked while it ran", Value: fmt.Sprintf("%d of %d", held, checked), Verdict: report.Of(held == checked),
		Note: "journals, acknowledgements, winners, sums, books",
	}
}

func (l *loaded) ratesSection() report.Section {
	bars := report.Bars{Unit: "a second"}
	for _, r := range l.Results {
		for _, f := range r.Series {
			bars.Bars = append(bars.Bars, report.Bar{Name: f.Name, Note: shortTitle(r.Plan), Value: f.PerSecond, Ours: true})
		}
	}
	return report.Section{Title: "Rates", Body: bars, Says: "An open load shows the rate that was asked for and kept. A closed loop is marked as such."}
}

func (l *loaded) latenciesSection() report.Section {
	var rows report.Latencies
	for _, r := range l.Results {
		for _, f := range r.Series {
			rows.Rows = append(rows.Rows, report.Latency{
				Name: f.Name, Note: shortTitle(r.Plan), Ours: true,
				P50: f.At(50), P99: f.At(99), P999: f.At(99.9),
			})
		}
	}
	return report.Section{Title: "Latencies", Body: rows, Says: "From the time at which each request was due, so a late request counts with its delay."}
}

// checksSection has a row for each load, and a column for each check of any of them.
func (l *loaded) checksSection() report.Section {
	m := report.Matrix{Brief: true}
	column := map[string]int{}
	for _, r := range l.Results {
		for _, c := range r.Checks {
			if _, ok := column[c.Name]; !ok {
				column[c.Name] = len(m.Checks)
				m.Checks = append(m.Checks, c.Name)
			}
		}
	}
	for _, r := range l.Results {
		row := report.Verdicts{Name: shortTitle(r.Plan), Ours: true, Cells: make([]report.Cell, len(m.Checks))}
		for _, c := range r.Checks {
			if !c.Held || c.Seen > 0 {
				row.Cells[column[c.Name]] = report.Cell{Verdict: report.Of(c.Held), Detail: seen(c)}
			}
		}
		m.Rows = append(m.Rows, row)
	}
	return report.Section{Title: "What held", Body: m, Says: "Checked during the run, and once more against the stored data at the end."}
}

func seen(c load.Check) string {
	if c.Held {
		return fmt.Sprintf("%d checked", c.Seen)
	}
	return fmt.Sprintf("%d times: %s", c.Faults, c.Detail)
}
