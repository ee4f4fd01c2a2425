package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"hongbao/cmd/hongbao-bench/load"
	"hongbao/cmd/hongbao-bench/report"
)

const (
	whoIsOurs    = "ours"
	besideScheme = "lua-list" // the fastest published scheme, to which speeds are compared
	promising    = "hongbao"  // the service with all its guarantees
)

// page returns the report with charts. command is the command line that repeats the measurement.
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
		r.Title, r.Subtitle = "Flaws of each way to grab a red packet", "Each published flaw, reproduced on its scheme, and the same run on ours."
		r.Figures = c.flawFigures()
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

// hardware lists the machine and the date of a report.
func hardware(h load.Hardware, at time.Time) []report.Fact {
	return []report.Fact{
		{Name: "Processor", Value: fmt.Sprintf("%s, %d cores", h.CPU, h.Cores)},
		{Name: "Memory", Value: fmt.Sprintf("%.1f GiB", float64(h.Memory)/(1<<30))},
		{Name: "System", Value: h.System},
		{Name: "Built with", Value: h.Go},
		{Name: "Measured", Value: at.UTC().Format("2 January 2006, 15:04 UTC")},
	}
}

// figures returns the main figures: the speed of hongbao, how many of its checks held, and how many of the published schemes
// passed all their checks.
func (c Comparison) figures() (all []report.Figure) {
	published := map[string]bool{} // by scheme: whether all checks held, in each of its outcomes
	for _, o := range c.Outcomes {
		held := o.held()
		kept := held == len(o.Verdicts)
		switch {
		case o.Scheme == promising:
			all = append(all,
				report.Figure{Name: o.Scheme + ", grabs a second", Value: report.Amount(o.GrabsPerSecond), Note: c.beside(o)},
				report.Figure{Name: "Checks of " + o.Scheme, Value: fmt.Sprintf("%d of %d", held, len(o.Verdicts)), Verdict: report.Of(kept)})
		case o.From != whoIsOurs:
			name, _, _ := strings.Cut(o.Scheme, ",") // "scheme, …" is the second outcome of a scheme that jams
			before, known := published[name]
			published[name] = kept && (before || !known)
		}
	}
	if len(published) == 0 {
		return all
	}
	keepAll := 0
	for _, kept := range published {
		if kept {
			keepAll++
		}
	}
	return append(all, report.Figure{Name: "Published schemes that held every check", Value: fmt.Sprintf("%d of %d", keepAll, len(published))})
}

// held returns the number of checks that held.
func (o Outcome) held() (n int) {
	for _, check := range o.Verdicts {
		if check.Held {
			n++
		}
	}
	return n
}

// besideRate returns the rate of besideScheme, to which other rates are compared. ok is false if it was not measured.
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
	return report.Ratio(o.GrabsPerSecond/rate) + " " + besideScheme
}
