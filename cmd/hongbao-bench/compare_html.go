package main

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"time"

	"hongbao/cmd/hongbao-bench/load"
	"hongbao/cmd/hongbao-bench/report"
)

const (
	whoIsOurs    = "ours"
	besideScheme = "lua-list" // the fastest that is published
	promising    = "hongbao"  // ours with all its promises
)

// page is the report with charts. The command is what measures the same again.
func (c Comparison) page(command string) report.Report {
	r := report.Report{
		Title: "Ways to grab a red packet", Subtitle: c.Workload,
		Hardware: hardware(load.ThisMachine(), c.Began), Command: command,
	}
	if len(c.Outcomes) > 0 {
		r.Figures = c.figures()
		r.Sections = []report.Section{c.throughput(), c.waits(), c.verdicts(), c.schemes()}
		if places, ok := c.places(); ok {
			r.Sections = slices.Insert(r.Sections, 3, places)
		}
	}
	if len(c.Flaws) > 0 {
		r.Title, r.Subtitle = "What is wrong with each way to grab a red packet", "Each flaw that is published, reproduced on its scheme; and the same played on ours."
		r.Sections = append(r.Sections, c.flaws())
	}
	return r
}

func writePage(name string, r report.Report) error {
	var b bytes.Buffer
	if err := report.Write(&b, r); err != nil {
		return err
	}
	return writeFile(name, b.Bytes())
}

// hardware of a report, and when it was.
func hardware(h load.Hardware, at time.Time) []report.Fact {
	return []report.Fact{
		{Name: "Processor", Value: fmt.Sprintf("%s, %d cores", h.CPU, h.Cores)},
		{Name: "Memory", Value: fmt.Sprintf("%.1f GiB", float64(h.Memory)/(1<<30))},
		{Name: "System", Value: h.System},
		{Name: "Built with", Value: h.Go},
		{Name: "Measured", Value: at.UTC().Format("2 January 2006, 15:04 UTC")},
	}
}

// figures that one came for: how fast ours is, what it has kept, and how many of the others have kept as much.
func (c Comparison) figures() (all []report.Figure) {
	schemes, keepAll := map[string]bool{}, 0
	for _, o := range c.Outcomes {
		held := o.held()
		switch {
		case o.Scheme == promising:
			all = append(all,
				report.Figure{Name: o.Scheme + ", grabs a second", Value: fmt.Sprintf("%.0f", o.GrabsPerSecond), Note: c.beside(o)},
				report.Figure{Name: "Checks of " + o.Scheme, Value: fmt.Sprintf("%d of %d", held, len(o.Verdicts)), Verdict: report.Of(held == len(o.Verdicts))})
		case o.From != whoIsOurs && !schemes[o.Scheme]:
			schemes[o.Scheme] = true
			if held == len(o.Verdicts) {
				keepAll++
			}
		}
	}
	if len(schemes) > 0 {
		all = append(all, report.Figure{Name: "Published schemes that held every check", Value: fmt.Sprintf("%d of %d", keepAll, len(schemes))})
	}
	return all
}

// held is how many of the checks did.
func (o Outcome) held() (n int) {
	for _, check := range o.Verdicts {
		if check.Held {
			n++
		}
	}
	return n
}

// besideRate is what ratios refer to; false when it was not measured.
func (c Comparison) besideRate() (rate float64, ok bool) {
	i := slices.IndexFunc(c.Outcomes, func(o Outcome) bool { return o.Scheme == besideScheme && o.GrabsPerSecond > 0 })
	if i < 0 {
		return 0, false
	}
	return c.Outcomes[i].GrabsPerSecond, true
}

func (c Comparison) beside(o Outcome) string {
	rate, ok := c.besideRate()
	if !ok {
		return ""
	}
	return fmt.Sprintf("%.2f× %s", o.GrabsPerSecond/rate, besideScheme)
}

func (o Outcome) note() string {
	if o.Note != "" {
		return o.From + "; " + o.Note
	}
	return o.From
}

func (c Comparison) throughput() report.Section {
	bars := report.Bars{Unit: "grabs/s"}
	if _, ok := c.besideRate(); ok {
		bars.Beside = besideScheme
	}
	late := false
	for _, o := range c.Outcomes {
		bars.Bars = append(bars.Bars, report.Bar{Name: o.Scheme, Note: o.note(), Value: o.GrabsPerSecond, Ours: o.From == whoIsOurs})
		late = late || !o.Finished
	}
	says := "Grabs that got a share, in one second. The same callers, packets and shares for each scheme, one after the other."
	if late {
		says += " Who did not come to an end in his time has done less, at the rate that is shown."
	}
	return report.Section{Title: "Throughput", Says: says, Body: bars}
}

func (c Comparison) waits() report.Section {
	var rows report.Latencies
	for _, o := range c.Outcomes {
		rows.Rows = append(rows.Rows, report.Latency{Name: o.Scheme, Note: o.note(), P50: o.P50, P99: o.P99, P999: o.P999, Ours: o.From == whoIsOurs})
	}
	return report.Section{Title: "Latency", Says: "From the grab to its answer, whatever it is, retries included.", Body: rows}
}

// verdicts that were observed. What a scheme has nothing to do with is a dash.
func (c Comparison) verdicts() report.Section {
	m := report.Matrix{Checks: checkNames()}
	for _, o := range c.Outcomes {
		row := report.Verdicts{Name: o.Scheme, Note: o.note(), Ours: o.From == whoIsOurs}
		for _, name := range m.Checks {
			cell := report.Cell{}
			if i := slices.IndexFunc(o.Verdicts, func(check Check) bool { return check.Name == name }); i >= 0 {
				cell = report.Cell{Verdict: report.Of(o.Verdicts[i].Held), Detail: o.Verdicts[i].Detail}
			}
			row.Cells = append(row.Cells, cell)
		}
		m.Rows = append(m.Rows, row)
	}
	return report.Section{Title: "What held", Says: "Observed in this run, beside what each has stored.", Body: m}
}

// places shows who is favoured; false when nobody's was measured.
func (c Comparison) places() (report.Section, bool) {
	l := report.Lines{
		X: report.Axis{Name: "place in which one came"}, Y: report.Axis{Name: "mean share, 1 is a fair one"},
		Level: &report.Level{Name: "a fair share", Y: 1},
	}
	for _, o := range c.Outcomes {
		if len(o.MeanByPlace) > 0 && !slices.ContainsFunc(o.MeanByPlace, math.IsNaN) {
			l.Series = append(l.Series, report.Series{Name: o.Scheme, Ours: o.From == whoIsOurs, Points: report.ByPlace(o.MeanByPlace)})
		}
	}
	return report.Section{Title: "Who gets how much", Says: "Packets of ten shares, grabbed one after the other: what each place gets on average.", Body: l}, len(l.Series) > 0
}

func (c Comparison) schemes() report.Section {
	t := report.Table{Columns: []report.Column{
		{Name: "scheme"}, {Name: "how a grab is decided"}, {Name: "how it is stored"},
		{Name: "grabs made", Number: true}, {Name: "won", Number: true}, {Name: "retries", Number: true}, {Name: "done"},
	}}
	for _, o := range c.Outcomes {
		t.Rows = append(t.Rows, []string{
			o.Scheme, o.Decides, o.Stores, fmt.Sprint(o.Grabs), fmt.Sprintf("%d of %d", o.Won, o.Packets*o.Shares), fmt.Sprint(o.Retries), done(o.Finished),
		})
	}
	return report.Section{Title: "How each works", Body: t}
}

// flaws are right when they are there on the scheme, and not on ours.
func (c Comparison) flaws() report.Section {
	m := report.Matrix{Checks: []string{"the scheme", "ours"}}
	for _, f := range c.Flaws {
		theirs := report.Cell{Verdict: report.Broken, Detail: f.Evidence}
		if !f.Reproduced {
			theirs = report.Cell{Detail: "could not be reproduced: " + f.Evidence}
		}
		m.Rows = append(m.Rows, report.Verdicts{
			Name: f.Scheme + ": " + f.Name, Note: f.Says,
			Cells: []report.Cell{theirs, {Verdict: report.Of(f.OursPasses), Detail: f.Ours}},
		})
	}
	return report.Section{Title: "Published flaws", Body: m}
}
