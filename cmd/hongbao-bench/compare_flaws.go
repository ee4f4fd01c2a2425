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

// showFlaws fails when one does not come out as it is said.
func (c *compare) showFlaws(ctx context.Context, p *program, s *site, result *Comparison) error {
	chosen, err := choose(c.only, flaws.All(), func(f flaws.Flaw) string { return f.Name })
	if err != nil {
		return err
	}
	all, err := startServers(ctx, s, "", "", flawConnections)
	if err != nil {
		return err
	}
	for n, f := range chosen {
		c.say("%d of %d: %s, of %s: %s", n+1, len(chosen), f.Name, f.Scheme, f.Says)
		shown, err := showFlaw(ctx, f, all, oursService(s.log))
		if ctx.Err() != nil {
			return err
		}
		if err != nil { // the others can still be shown
			shown.Reproduced, shown.OursPasses, shown.Evidence = false, false, err.Error()
		}
		c.say("  it:   %s\n  ours: %s", shown.Evidence, shown.Ours)
		result.Flaws = append(result.Flaws, shown)
	}
	return errors.Join(flawTable(p.stdout, result.Flaws), wrongFlaws(result.Flaws))
}

// showFlaw shows one, and closes what it has used.
func showFlaw(ctx context.Context, f flaws.Flaw, all *servers, ours schemes.Named) (shown Shown, err error) {
	ctx, cancel := context.WithTimeout(ctx, flawPatience)
	defer cancel()
	defer func() { err = errors.Join(err, all.release()) }()
	found, err := f.Show(ctx, &flaws.Stage{Schemes: schemes.All(), Fresh: all.fresh, Twin: all.twin, Redis: all.redis, Ours: ours})
	return Shown{
		Name: f.Name, Scheme: f.Scheme, Says: f.Says,
		Reproduced: found.Reproduced, Evidence: found.Evidence, Ours: found.Ours, OursPasses: found.OursPasses,
	}, err
}

// flawTable writes them for people.
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

// wrongFlaws are those that did not come out as it is said.
func wrongFlaws(all []Shown) (failed error) {
	for _, f := range all {
		if !f.Reproduced {
			failed = errors.Join(failed, fmt.Errorf("%s of %s could not be reproduced: %s", f.Name, f.Scheme, f.Evidence))
		}
		if !f.OursPasses {
			failed = errors.Join(failed, fmt.Errorf("%s: ours does not pass: %s", f.Name, f.Ours))
		}
	}
	return failed
}
