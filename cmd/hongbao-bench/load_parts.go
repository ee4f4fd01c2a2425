package main

import (
	"fmt"
	"slices"

	"hongbao/cmd/hongbao-bench/load"
	"hongbao/cmd/hongbao-bench/report"
)

// partsSection has a row for each load, and a column for each part of the installation.
func (l *loaded) partsSection() report.Section {
	var names []string
	for _, r := range l.Results {
		for _, p := range r.Parts {
			if !slices.Contains(names, p.Name) {
				names = append(names, p.Name)
			}
		}
	}
	t := report.Table{Columns: []report.Column{{Name: "load"}, {Name: "µs for a"}}}
	for _, name := range names {
		t.Columns = append(t.Columns, report.Column{Name: name, Number: true})
	}
	t.Columns = append(t.Columns, report.Column{Name: "bottleneck"})
	for _, r := range l.Results {
		row := []string{title(r.Plan), r.Operation}
		for _, name := range names {
			row = append(row, microsOf(r.Parts, name))
		}
		t.Rows = append(t.Rows, append(row, r.Bottleneck))
	}
	return report.Section{
		Title: "CPU time by part", Body: t,
		Says: "Processor time of each part for one operation of the load, in microseconds. The sum is the time that a core must give.",
	}
}

// microsOf formats the time of a part for one operation; empty when the load has no such part.
func microsOf(parts []load.Part, name string) string {
	i := slices.IndexFunc(parts, func(p load.Part) bool { return p.Name == name })
	if i < 0 {
		return ""
	}
	return fmt.Sprintf("%.1f", parts[i].Micros)
}
