package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"hongbao/cmd/hongbao-bench/load"
	"hongbao/cmd/hongbao-bench/report"
)

// loaded is the result of the subcommand load: one result for each plan.
type loaded struct {
	At           time.Time     `json:"at"`
	Hardware     load.Hardware `json:"hardware"`
	Installation string        `json:"installation"`
	Command      string        `json:"command"`
	Results      []load.Result `json:"results,omitempty"`
}

// table prints the results.
func (l *loaded) table(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "%s, on %s\n", l.Installation, l.Hardware); err != nil {
		return err
	}
	for _, r := range l.Results {
		if err := resultTable(w, r); err != nil {
			return err
		}
	}
	return nil
}

func resultTable(w io.Writer, r load.Result) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(t, format, args...) } // a tabwriter keeps its first error for Flush
	say("\n%s\n", title(r.Plan))
	say("  what\tcount\ta second\tp50 ms\tp90 ms\tp99 ms\tp99.9 ms\tmax ms\n")
	for _, f := range r.Series {
		say("  %s\t%d\t%.0f\t", f.Name, f.Count, f.PerSecond)
		for _, p := range f.Percentiles {
			say("%.1f\t", p)
		}
		say("%.1f\n", f.Max)
	}
	say("  CPU time by part\tµs a %s\tcores\tMiB\tKiB a user\n", r.Operation)
	for _, p := range r.Parts {
		say("  %s\t%.1f\t%.2f\t%s\n", p.Name, p.Micros, p.Cores, memoryOf(p, r.Plan.Users))
	}
	say("  bottleneck: %s\n", r.Bottleneck)
	if len(r.Errors) > 0 || r.Lost > 0 {
		say("  errors, repeated until answered: %s; %d connections lost\n", counted(r.Errors), r.Lost)
	}
	for _, c := range r.Checks {
		switch {
		case !c.Held:
			say("  %s: NO, %s\n", c.Name, seen(c))
		case c.Seen > 0: // otherwise there was nothing to check
			say("  %s: yes (%s)\n", c.Name, seen(c))
		}
	}
	return t.Flush()
}

func memoryOf(p load.Part, users int) string {
	if p.Resident == 0 {
		return ""
	}
	return fmt.Sprintf("%d\t%+.1f", p.Resident>>20, float64(p.Grown)/1024/float64(users))
}

func counted(errors map[string]int64) string {
	var list []string
	for _, word := range slices.Sorted(maps.Keys(errors)) {
		list = append(list, fmt.Sprintf("%s %d", word, errors[word]))
	}
	return strings.Join(list, ", ")
}

// title describes a plan in one line.
func title(p load.Plan) string {
	pace := fmt.Sprintf("%.0f a second for %v", p.Rate, p.Duration)
	if p.Closed {
		pace = fmt.Sprintf("closed loop for %v", p.Duration)
	}
	switch p.Scenario {
	case "grab":
		packets := fmt.Sprintf("rooms of %d, %d packets at a time", p.RoomSize, p.Packets)
		if p.Packets == 1 || p.Closed {
			packets = "hot packets in turn"
		}
		return fmt.Sprintf("grab: %d users, %s, %d shares each, %s", p.Users, packets, p.Shares, pace)
	case "chat":
		return fmt.Sprintf("chat: %d users in rooms of %d, %s", p.Users, p.RoomSize, pace)
	case "storm":
		return fmt.Sprintf("storm: %d users in rooms of %d reconnect at once, with %d missed entries", p.Users, p.RoomSize, p.Missed)
	}
	return fmt.Sprintf("%s: %d users for %v", p.Scenario, p.Users, p.Duration)
}

// files writes the files that were asked for.
func (l *loaded) files(jsonFile, htmlFile string) error {
	var failed error
	if jsonFile != "" {
		failed = writeJSON(jsonFile, l)
	}
	if htmlFile != "" {
		failed = errors.Join(failed, writePage(htmlFile, l.page()))
	}
	return failed
}

func writeFile(name string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil { //nolint:gosec // reports are for everyone
		return err
	}
	return os.WriteFile(name, content, 0o644) //nolint:gosec // as above
}

// verdict returns an error that names the checks that failed.
func (l *loaded) verdict() error {
	var wrong []error
	for _, r := range l.Results {
		for _, c := range r.Checks {
			if !c.Held {
				wrong = append(wrong, fmt.Errorf("%s: violated: %s: %s", r.Plan.Scenario, c.Name, c.Detail))
			}
		}
	}
	return errors.Join(wrong...)
}

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
