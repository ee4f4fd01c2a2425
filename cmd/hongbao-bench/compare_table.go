package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

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
