// Command hongbao-mutants changes the program in small ways, one at a time, and runs the tests that must notice. A change that
// no test notices is a survivor: a rule that nothing checks.
//
// It must always hold: no file of the repository is changed (go test reads each changed file through -overlay); a change counts
// as killed only if the same tests pass without it, and if it compiles.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	survived, err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "hongbao-mutants:", err)
		os.Exit(2)
	case survived > 0:
		os.Exit(1)
	}
}

// run tries the mutants that the arguments select. It returns the number of survivors.
func run(ctx context.Context, args []string, out, help io.Writer) (survived int, err error) {
	flags := flag.NewFlagSet("hongbao-mutants", flag.ContinueOnError)
	flags.SetOutput(help)
	only := flags.String("only", "", "try only mutants whose file or harm contains this text")
	since := flags.String("since", "", "try only mutants of the packages that differ from this commit, as HEAD or main")
	timeout := flags.Duration("timeout", 3*time.Minute, "time for the tests of one mutant; one that takes longer is killed by the timeout")
	flags.Usage = func() {
		_, _ = fmt.Fprintln(help, "usage: hongbao-mutants [flags], in the repository; tries each mutant of the table and names the survivors.")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return 0, err
	}
	r, err := newRunner(ctx, *timeout)
	if err != nil {
		return 0, err
	}
	touched := func(string) bool { return true }
	if *since != "" {
		if touched, err = r.touched(ctx, *since); err != nil {
			return 0, err
		}
	}
	began := time.Now()
	var chosen, survivors []mutant
	for _, m := range table() {
		if touched(m.file) && (strings.Contains(m.file, *only) || strings.Contains(m.harm, *only)) {
			chosen = append(chosen, m)
		}
	}
	var failed error
	for _, m := range chosen {
		v, err := r.try(ctx, m)
		switch {
		case ctx.Err() != nil:
			return 0, ctx.Err()
		case err != nil:
			failed = errors.Join(failed, err)
			_, _ = fmt.Fprintln(out, "NOT TRIED", err)
			continue
		case !v.killed():
			survivors = append(survivors, m)
		}
		_, _ = fmt.Fprintf(out, "%s %5.1f s  %-40s  %s\n", v.word(), v.took.Seconds(), v.place, v.by)
	}
	_, _ = fmt.Fprintf(out, "\n%d mutants, %d survived, %.0f s\n", len(chosen), len(survivors), time.Since(began).Seconds())
	for _, m := range survivors {
		_, _ = fmt.Fprintf(out, "\nsurvived: %s\n  - %s\n  + %s\n  harm: %s\n  tests: %s\n", m.file, indented(m.old), indented(m.new), m.harm, m.tests)
	}
	return len(survivors), failed
}

// indented puts the lines of a text that follow the first below it.
func indented(text string) string { return strings.ReplaceAll(text, "\n", "\n    ") }
