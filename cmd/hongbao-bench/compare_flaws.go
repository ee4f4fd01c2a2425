package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"hongbao/cmd/hongbao-bench/flaws"
	"hongbao/cmd/hongbao-bench/schemes"
)

const (
	flawConnections = 12
	flawPatience    = 2 * time.Minute
)

// showFlaws reproduces the chosen flaws. It fails if a flaw is not reproduced on its scheme, or is found in the
// service too.
func (c *compare) showFlaws(ctx context.Context, p *program, s *testbed, result *Comparison) error {
	chosen, err := choose(c.only, flaws.All(), func(f flaws.Flaw) string { return f.Name })
	if err != nil {
		return err
	}
	all, err := startServers(ctx, s, flawConnections)
	if err != nil {
		return err
	}
	for n, f := range chosen {
		c.say("%d of %d: %s of %s: %s", n+1, len(chosen), f.Name, f.Scheme, f.Says)
		shown, err := showFlaw(ctx, f, all, oursService(s.log))
		if ctx.Err() != nil {
			return err
		}
		if err != nil { // continue with the other flaws
			shown.Reproduced, shown.OursPasses, shown.Evidence = false, false, err.Error()
		}
		c.say("  it:   %s\n  ours: %s", shown.Evidence, shown.Ours)
		result.Flaws = append(result.Flaws, shown)
	}
	return errors.Join(flawTable(p.stdout, result.Flaws), wrongFlaws(result.Flaws))
}

// showFlaw tries one flaw on its scheme and on the service, and closes the connections that both used.
func showFlaw(ctx context.Context, f flaws.Flaw, all *servers, ours schemes.Named) (shown Shown, err error) {
	ctx, cancel := context.WithTimeout(ctx, flawPatience)
	defer cancel()
	defer func() { err = errors.Join(err, all.release()) }()
	found, err := f.Show(ctx, &flaws.Environment{Schemes: schemes.All(), Fresh: all.fresh, Twin: all.twin, Redis: all.redis, Ours: ours})
	return Shown{
		Name: f.Name, Scheme: f.Scheme, Says: f.Says,
		Reproduced: found.Reproduced, Evidence: found.Evidence, Ours: found.Ours, OursPasses: found.OursPasses,
	}, err
}

// flawTable prints the flaws as a table.
func flawTable(w io.Writer, all []Shown) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "scheme\tflaw\treproduced\tours\tsays") // a tabwriter keeps its first error for Flush
	for _, f := range all {
		_, _ = fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", f.Scheme, f.Name, yes(f.Reproduced), passes(f.OursPasses), f.Says)
	}
	return t.Flush()
}

func yes(so bool) string {
	if so {
		return "yes"
	}
	return "NO"
}

func passes(so bool) string {
	if so {
		return "passes"
	}
	return "FAILS"
}

// wrongFlaws returns an error for each flaw that was not reproduced on its scheme, or was found in the service.
func wrongFlaws(all []Shown) (failed error) {
	for _, f := range all {
		if !f.Reproduced {
			failed = errors.Join(failed, fmt.Errorf("%s of %s is not reproduced: %s", f.Name, f.Scheme, f.Evidence))
		}
		if !f.OursPasses {
			failed = errors.Join(failed, fmt.Errorf("%s: ours does not pass: %s", f.Name, f.Ours))
		}
	}
	return failed
}
