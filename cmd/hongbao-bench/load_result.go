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
