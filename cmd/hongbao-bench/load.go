package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"strings"
	"time"

	"hongbao/cmd/hongbao-bench/load"
)

// loading holds the settings of the subcommand that loads an installation with users over real sockets.
type loading struct {
	plan load.Plan
	of   installed

	urls                     string // of an installation that is already running, separated by commas
	secret, issuer, audience string // of its tokens

	json, html string // files
	profiles   string // folder
	command    string // command line that repeats this run
}

// mixed is the value of --scenario that runs small loads of every scenario, one after the other.
const mixed = "mixed"

func loadCommand() command {
	return command{name: "load", summary: "load an installation with users over real sockets, and check its answers", setup: func(fs *flag.FlagSet) func(context.Context, *program) error {
		l := &loading{}
		l.planFlags(fs)
		l.targetFlags(fs)
		fs.StringVar(&l.json, "json", "", "write the results to this file")
		fs.StringVar(&l.html, "html", "", "write a report with charts to this file")
		fs.StringVar(&l.profiles, "cpu-profiles", "", "write CPU profiles of this program and of each server that it starts into this folder")
		return func(ctx context.Context, p *program) error {
			if err := l.check(fs); err != nil {
				return err
			}
			l.command = sameAgain(fs)
			return l.run(ctx, p)
		}
	}}
}

func (l *loading) run(ctx context.Context, p *program) error {
	out := loaded{At: time.Now().UTC(), Hardware: load.ThisMachine(), Installation: l.describe(), Command: l.command}
	_, err := onTestbed(func(s *testbed) (_ struct{}, err error) {
		target, err := l.target(ctx, s, p)
		if err == nil {
			out.Results, err = l.play(ctx, target, p.say)
		}
		return struct{}{}, err
	})
	if err != nil {
		return err
	}
	return errors.Join(out.table(p.stdout), out.files(l.json, l.html), out.verdict())
}

// play runs the plans, one after the other.
func (l *loading) play(ctx context.Context, target *load.Target, logf load.Logf) (results []load.Result, err error) {
	for _, plan := range l.plans() {
		r, err := load.Run(ctx, target, plan, logf)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", plan.Scenario, err)
		}
		results = append(results, r)
		runtime.GC() // the garbage of one run must not burden the next
	}
	return results, nil
}

// target starts an installation, or returns the running one that the flags name.
func (l *loading) target(ctx context.Context, s *testbed, p *program) (*load.Target, error) {
	if l.urls == "" {
		p.say("starting %s", l.describe())
		in, err := s.install(ctx, l.of)
		if err != nil {
			return nil, err
		}
		if l.profiles != "" {
			in.target.Around = profiled(ctx, l.profiles, in.instances)
		}
		return in.target, nil
	}
	tokens, err := load.SecretTokens(l.secret, l.issuer, l.audience)
	if err != nil {
		return nil, err
	}
	target := load.NewTarget(strings.Split(l.urls, ","), tokens, nil)
	if l.profiles != "" {
		target.Around = profiled(ctx, l.profiles, nil)
	}
	s.addCleanup(func() error { target.Close(); return nil })
	return target, nil
}

// describe names the installation under load.
func (l *loading) describe() string {
	switch {
	case l.urls != "":
		return l.urls
	case l.of.embedded:
		return "hongbao embedded: one process"
	case l.of.citus:
		return fmt.Sprintf("%d hongbao over Redis and Citus: a coordinator and two workers", l.of.instances)
	case l.of.instances == 1:
		return "one hongbao over Redis and Postgres"
	}
	return fmt.Sprintf("%d hongbao over one Redis and one Postgres", l.of.instances)
}
