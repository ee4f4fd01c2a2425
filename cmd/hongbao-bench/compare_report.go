package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
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

func (o Outcome) note() string {
	switch {
	case o.Note != "":
		return o.From + "; " + o.Note
	case o.From == whoIsOurs:
		return o.From + "; " + o.Stores
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
	says := "Grabs that got a share, per second. Each scheme has the same callers, packets and shares, one scheme after the other."
	if late {
		says += " A scheme that ran out of time did fewer grabs, at the rate that is shown."
	}
	return report.Section{Title: "Throughput", Says: says, Body: bars}
}

func (c Comparison) waits() report.Section {
	var rows report.Latencies
	for _, o := range c.Outcomes {
		rows.Rows = append(rows.Rows, report.Latency{Name: o.Scheme, Note: o.note(), P50: o.P50, P99: o.P99, P999: o.P999, Ours: o.From == whoIsOurs})
	}
	return report.Section{Title: "Latency", Says: "From the grab to its answer of any kind, retries included.", Body: rows}
}

// verdicts returns the section with the checks of each scheme in this run. A check that does not apply to a scheme is
// shown as a dash.
func (c Comparison) verdicts() report.Section {
	m := report.Matrix{Checks: checkNames(), Brief: true}
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
	return report.Section{Title: "What held", Says: "Observed in this run, and compared with the stored books.", Body: m}
}

// places returns the section with the mean share of each rank, by scheme. ok is false if no scheme has such figures.
func (c Comparison) places() (s report.Section, ok bool) {
	var t report.Table
	for _, o := range c.Outcomes {
		if len(o.MeanByPlace) == 0 || slices.ContainsFunc(o.MeanByPlace, math.IsNaN) {
			continue
		}
		if t.Columns == nil {
			t.Columns = []report.Column{{Name: "scheme"}}
			for rank := range o.MeanByPlace {
				t.Columns = append(t.Columns, report.Column{Name: strconv.Itoa(rank + 1), Number: true})
			}
		}
		row := []string{o.Scheme}
		for _, mean := range o.MeanByPlace {
			row = append(row, fmt.Sprintf("%.2f", mean))
		}
		t.Rows = append(t.Rows, row)
	}
	return report.Section{Title: "Mean share by rank", Says: "Packets of ten shares, grabbed one after the other: the average share of each rank, where 1 is fair.", Body: t}, len(t.Rows) > 0
}

func (c Comparison) schemes() report.Section {
	t := report.Table{Columns: []report.Column{
		{Name: "scheme"}, {Name: "how a grab is decided"}, {Name: "how it is stored"},
		{Name: "grabs made", Number: true}, {Name: "won", Number: true}, {Name: "retries", Number: true}, {Name: "done"},
	}}
	for _, o := range c.Outcomes {
		t.Rows = append(t.Rows, []string{
			o.Scheme, o.Decides, o.Stores, report.Amount(float64(o.Grabs)), fmt.Sprintf("%s of %s", report.Amount(float64(o.Won)), report.Amount(float64(o.Packets*o.Shares))), report.Amount(float64(o.Retries)), done(o.Finished),
		})
	}
	return report.Section{Title: "How each scheme works", Body: t}
}

func (c Comparison) flawFigures() []report.Figure {
	reproduced, passed := 0, 0
	for _, f := range c.Flaws {
		if f.Reproduced {
			reproduced++
		}
		if f.OursPasses {
			passed++
		}
	}
	return []report.Figure{
		{Name: "Reproduced in this run", Value: fmt.Sprintf("%d of %d", reproduced, len(c.Flaws))},
		{Name: "Ours passes", Value: fmt.Sprintf("%d of %d", passed, len(c.Flaws)), Verdict: report.Of(passed == len(c.Flaws))},
	}
}

// flaws returns the section with all flaws. The first column says whether the flaw was reproduced on its scheme, the second
// whether the service passed.
func (c Comparison) flaws() report.Section {
	m := report.Matrix{Checks: []string{"the scheme", "ours"}}
	for _, f := range c.Flaws {
		theirs := report.Cell{Verdict: report.Broken, Detail: f.Evidence}
		if !f.Reproduced {
			theirs = report.Cell{Detail: "not reproduced: " + f.Evidence}
		}
		m.Rows = append(m.Rows, report.Verdicts{
			Name: f.Scheme + ": " + f.Name, Note: f.Says,
			Cells: []report.Cell{theirs, {Verdict: report.Of(f.OursPasses), Detail: f.Ours}},
		})
	}
	return report.Section{Title: "Published flaws", Body: m}
}

// raceTable prints the outcomes as a table of figures and verdicts, and below it the remarks.
func raceTable(w io.Writer, outcomes []Outcome) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(t, "scheme\tfrom\tgrabs/s\tanswers/s\tp50\tp99\tp999\tretries\twon\tdone\t%s\n", strings.Join(checkNames(), "\t")) // a tabwriter keeps its first error for Flush
	for _, o := range outcomes {
		_, _ = fmt.Fprintf(t, "%s\t%s\t%.0f\t%.0f\t%s\t%s\t%s\t%d\t%d of %d\t%s", o.Scheme, o.From, o.GrabsPerSecond, o.Answers,
			short(o.P50), short(o.P99), short(o.P999), o.Retries, o.Won, o.Packets*o.Shares, done(o.Finished))
		for _, name := range checkNames() {
			_, _ = fmt.Fprintf(t, "\t%s", o.verdict(name))
		}
		_, _ = fmt.Fprintln(t)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, line := range remarks(outcomes) {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

func (o Outcome) verdict(name string) string {
	i := slices.IndexFunc(o.Verdicts, func(c Check) bool { return c.Name == name })
	switch {
	case i < 0:
		return "-"
	case o.Verdicts[i].Held:
		return "yes"
	}
	return "NO"
}

func done(finished bool) string {
	if finished {
		return "all"
	}
	return "time's up"
}

// short formats a duration with about three digits.
func short(d time.Duration) string {
	switch {
	case d >= 100*time.Millisecond:
		return d.Round(time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(100 * time.Microsecond).String()
	}
	return max(d.Round(time.Microsecond), time.Microsecond).String()
}

// remarks returns, for each outcome, its note, the reason of each check that failed, and the mean share of each rank.
func remarks(outcomes []Outcome) (lines []string) {
	for _, o := range outcomes {
		if o.Note != "" {
			lines = append(lines, o.Scheme+": "+o.Note)
		}
		for _, c := range o.Verdicts {
			if !c.Held {
				lines = append(lines, fmt.Sprintf("%s: not %q: %s", o.Scheme, c.Name, c.Detail))
			}
		}
		if len(o.MeanByPlace) > 0 {
			lines = append(lines, fmt.Sprintf("%s: mean share by rank, 1 is fair: %.2f", o.Scheme, o.MeanByPlace))
		}
	}
	return lines
}

// Comparison is the result of `compare`, as --json writes it.
type Comparison struct {
	Began    time.Time `json:"began"`
	Seconds  float64   `json:"seconds"`
	Machine  string    `json:"machine"`
	Workload string    `json:"workload"`
	Seed     uint64    `json:"seed"`
	Outcomes []Outcome `json:"outcomes,omitempty"`
	Flaws    []Shown   `json:"flaws,omitempty"`
}

// Outcome is the result of one scheme with one workload. Latencies are over all grabs, whatever their answer; durations are
// nanoseconds.
type Outcome struct {
	Scheme         string        `json:"scheme"`
	From           string        `json:"from"`
	Decides        string        `json:"decides"`
	Stores         string        `json:"stores"`
	GrabsPerSecond float64       `json:"grabs_per_second"` // grabs that got a share
	Answers        float64       `json:"answers_per_second"`
	P50            time.Duration `json:"p50"`
	P99            time.Duration `json:"p99"`
	P999           time.Duration `json:"p999"`
	Retries        int           `json:"retries"`
	Callers        int           `json:"callers"`
	Packets        int           `json:"packets"`
	Shares         int           `json:"shares"` // of each packet
	Grabs          int           `json:"grabs"`  // grabs that were made
	Won            int           `json:"won"`
	Finished       bool          `json:"finished"` // all grabs were made within the time budget
	Note           string        `json:"note,omitempty"`
	Verdicts       []Check       `json:"verdicts"`
	MeanByPlace    []float64     `json:"mean_by_place,omitempty"` // mean share by rank; 1 is a fair share
	took           time.Duration // of all grabs
}

// Check is the verdict on one requirement in this run. A scheme has no Check for a requirement that does not apply to
// it.
type Check struct {
	Name   string `json:"name"`
	Held   bool   `json:"held"`
	Detail string `json:"detail"`
}

// Names of the checks, in the order of the report.
const (
	checkMoney  = "paid = funded"
	checkTwice  = "no user twice"
	checkStored = "answer is stored"
	checkKill   = "answer survives a kill"
	checkLeft   = "no early refusal"
	checkRefund = "rest refunded"
)

func checkNames() []string {
	return []string{checkMoney, checkTwice, checkStored, checkKill, checkLeft, checkRefund}
}

// Shown is a flaw with the result of its reproduction.
type Shown struct {
	Name       string `json:"name"`
	Scheme     string `json:"scheme"`
	Says       string `json:"says"`
	Reproduced bool   `json:"reproduced"`
	Evidence   string `json:"evidence"`
	Ours       string `json:"ours"`
	OursPasses bool   `json:"ours_passes"`
}
