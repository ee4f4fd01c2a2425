package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"hongbao/cmd/hongbao-bench/load"
)

// loading are the settings of the subcommand: users over real sockets.
type loading struct {
	plan load.Plan
	of   installed

	urls, issuer, audience string // of an installation that runs already, separated by commas
	secret                 string
	tokens, admin          string // files
	processes              processFlags

	growth     bool
	json, html string // files
	command    string // that does the same again
}

// mixed is a small load of each kind, one after the other.
const mixed = "mixed"

func loadCommand() command {
	return command{name: "load", summary: "users over real sockets: what an installation carries, checked while it carries it", setup: func(fs *flag.FlagSet) func(context.Context, *program) error {
		l := &loading{}
		l.planFlags(fs)
		l.targetFlags(fs)
		fs.BoolVar(&l.growth, "growth", false, "instead: what things cost with 1, 10 and 100 times as much in the house")
		fs.StringVar(&l.json, "json", "", "write the results to this file")
		fs.StringVar(&l.html, "html", "", "write a report with charts to this file")
		return func(ctx context.Context, p *program) error {
			if err := l.check(fs); err != nil {
				return err
			}
			l.command = sameAgain(fs)
			return l.run(ctx, p)
		}
	}}
}

func (l *loading) planFlags(fs *flag.FlagSet) {
	p := &l.plan
	fs.StringVar(&p.Scenario, "scenario", mixed, strings.Join(load.Scenarios, ", ")+", or a small one of each: "+mixed)
	fs.IntVar(&p.Users, "users", 1000, "users, each with a socket")
	fs.IntVar(&p.RoomSize, "room-size", 50, "chat, storm: users in a room")
	fs.IntVar(&p.Packets, "packets", 1, "grab: packets grabbed at the same time; 1: hot ones, one after the other; with --closed: so many in all")
	fs.IntVar(&p.Shares, "shares", 500, "grab: shares of a packet")
	fs.Float64Var(&p.Rate, "rate", 500, "grabs or messages a second, due at their times whatever became of those before")
	fs.BoolVar(&p.Closed, "closed", false, "no rate: each user the next when the last is answered")
	fs.IntVar(&p.Missed, "missed", 20, "storm: entries of each room while everybody is away")
	fs.DurationVar(&p.Ramp, "ramp", 5*time.Second, "in which the users come")
	fs.DurationVar(&p.Duration, "duration", 15*time.Second, "of the load")
	fs.Uint64Var(&p.Seed, "seed", 1, "who says and grabs what when")
}

func (l *loading) targetFlags(fs *flag.FlagSet) {
	fs.StringVar(&l.of.binary, "hongbao", "", "the program to start; empty: it is built")
	fs.BoolVar(&l.of.embedded, "embedded", false, "start it without Redis and Postgres")
	fs.IntVar(&l.of.instances, "instances", 1, "how many to start")
	fs.StringVar(&l.urls, "url", "", "instead of starting any: http://… of the instances that run, separated by commas")
	fs.StringVar(&l.secret, "jwt-secret", "", "of --url: the secret that tokens are signed with")
	fs.StringVar(&l.issuer, "jwt-issuer", "", "of --url: iss of the tokens")
	fs.StringVar(&l.audience, "jwt-audience", "", "of --url: aud of the tokens")
	fs.StringVar(&l.tokens, "token-file", "", "of --url: instead of a secret, a token of each user, one a line")
	fs.StringVar(&l.admin, "admin-token-file", "", "of --url: with --token-file, a token of scope admin: it gives users money and reads the books")
	fs.Var(&l.processes, "pid", "of --url: name=id of a process here that belongs to it (server=12, redis=34); may be repeated")
}

// processFlags are those of --pid.
type processFlags []load.Process

// String implements flag.Value.
func (f *processFlags) String() string { return "" }

// Set implements flag.Value.
func (f *processFlags) Set(text string) error {
	name, id, _ := strings.Cut(text, "=")
	pid, err := strconv.Atoi(id)
	if err != nil || name == "" || pid < 1 {
		return errors.New("it is no name=id")
	}
	*f = append(*f, load.Process{Name: name, PID: pid})
	return nil
}

// check finds what does not go together, before anything is started.
func (l *loading) check(fs *flag.FlagSet) error {
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	anyOf := func(names ...string) string {
		if i := slices.IndexFunc(names, func(name string) bool { return given[name] }); i >= 0 {
			return "--" + names[i]
		}
		return ""
	}
	if of := anyOf("users", "room-size", "packets", "shares", "rate", "closed", "missed", "ramp", "duration"); of != "" && (l.plan.Scenario == mixed || l.growth) {
		return fmt.Errorf("%s goes with one --scenario of %s", of, strings.Join(load.Scenarios, ", "))
	}
	if l.plan.Scenario != mixed && !slices.Contains(load.Scenarios, l.plan.Scenario) {
		return fmt.Errorf("--scenario: there is no %q", l.plan.Scenario)
	}
	if of := anyOf("jwt-secret", "jwt-issuer", "jwt-audience", "token-file", "admin-token-file", "pid"); of != "" && l.urls == "" {
		return fmt.Errorf("%s goes with --url", of)
	}
	own := anyOf("hongbao", "embedded", "instances")
	switch {
	case own != "" && l.urls != "":
		return fmt.Errorf("%s goes without --url", own)
	case l.urls != "" && (l.secret == "") == (l.tokens == ""):
		return errors.New("--url wants --jwt-secret or --token-file")
	case l.admin != "" && l.tokens == "":
		return errors.New("--admin-token-file goes with --token-file")
	case l.of.instances < 1:
		return errors.New("--instances must be at least 1")
	case l.of.embedded && l.of.instances > 1:
		return errors.New("--embedded is one instance")
	case l.growth && l.urls != "":
		return errors.New("--growth starts an installation of its own")
	}
	for _, p := range l.plans() {
		if err := p.Check(); err != nil {
			return err
		}
	}
	return nil
}

// plans to play.
func (l *loading) plans() []load.Plan {
	if l.plan.Scenario != mixed {
		return []load.Plan{l.plan}
	}
	all := []load.Plan{
		{Scenario: "idle", Users: 2000, Ramp: 4 * time.Second, Duration: 5 * time.Second},
		{Scenario: "chat", Users: 500, RoomSize: 50, Rate: 200, Ramp: time.Second, Duration: 10 * time.Second},
		{Scenario: "chat", Users: 200, RoomSize: 20, Closed: true, Ramp: time.Second, Duration: 5 * time.Second},
		{Scenario: "grab", Users: 1000, Shares: 500, Rate: 1000, Ramp: 2 * time.Second, Duration: 5 * time.Second},
		{Scenario: "grab", Users: 500, Packets: 50, Shares: 100, Rate: 1000, Ramp: time.Second, Duration: 5 * time.Second},
		{Scenario: "grab", Users: 500, Packets: 40, Shares: 500, Closed: true, Ramp: time.Second, Duration: 5 * time.Second},
		{Scenario: "storm", Users: 2000, RoomSize: 50, Missed: 20, Ramp: 4 * time.Second, Duration: time.Second},
	}
	for i := range all {
		p := &all[i]
		p.RoomSize, p.Packets, p.Shares, p.Rate, p.Seed = max(p.RoomSize, 1), max(p.Packets, 1), max(p.Shares, 1), max(p.Rate, 1), l.plan.Seed
	}
	return all
}

func (l *loading) run(ctx context.Context, p *program) error {
	if l.growth {
		return errors.New("--growth is not there yet")
	}
	out := loaded{At: time.Now().UTC(), Hardware: load.ThisMachine(), Installation: l.describe(), Command: l.command}
	_, err := onSite(func(s *site) (_ struct{}, err error) {
		target, err := l.target(ctx, s, p)
		if err != nil {
			return struct{}{}, err
		}
		for _, plan := range l.plans() {
			r, err := load.Run(ctx, target, plan, p.say)
			if err != nil {
				return struct{}{}, fmt.Errorf("%s: %w", plan.Scenario, err)
			}
			out.Results = append(out.Results, r)
			runtime.GC() // what one run has left is not the next one's to clear
		}
		return struct{}{}, nil
	})
	if err != nil {
		return err
	}
	return errors.Join(out.table(p.stdout), out.files(l.json, l.html), out.verdict())
}

// target is what is put under load: an installation of ours, or one that runs.
func (l *loading) target(ctx context.Context, s *site, p *program) (*load.Target, error) {
	if l.urls == "" {
		p.say("starting %s", l.describe())
		in, err := s.install(ctx, l.of)
		if err != nil {
			return nil, err
		}
		return in.target, nil
	}
	passes, err := l.passes()
	if err != nil {
		return nil, err
	}
	if passes.Admin == "" {
		p.say("without --admin-token-file nobody is given money, and the books are not read")
	}
	target := load.NewTarget(strings.Split(l.urls, ","), passes, l.processes)
	s.later(func() error { target.Close(); return nil })
	return target, nil
}

func (l *loading) passes() (load.Passes, error) {
	if l.tokens != "" {
		return load.FilePasses(l.tokens, l.admin)
	}
	return load.SecretPasses(l.secret, l.issuer, l.audience)
}

// sameAgain is the command line, without what is secret or a matter of the place.
func sameAgain(fs *flag.FlagSet) string {
	words := []string{"hongbao-bench", fs.Name()}
	fs.Visit(func(f *flag.Flag) {
		if !slices.Contains([]string{"jwt-secret", "redis-url", "database-url", "json", "html", "hongbao", "pid"}, f.Name) {
			words = append(words, "--"+f.Name+"="+f.Value.String())
		}
	})
	return strings.Join(words, " ")
}

// describe says what it is that is put under load.
func (l *loading) describe() string {
	switch {
	case l.urls != "":
		return l.urls
	case l.of.embedded:
		return "hongbao embedded: one process"
	case l.of.instances == 1:
		return "one hongbao over Redis and Postgres"
	}
	return fmt.Sprintf("%d hongbao over one Redis and one Postgres", l.of.instances)
}
