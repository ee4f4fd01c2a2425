package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
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

// check refuses wrong settings, and settings that do not go together, before anything is started.
func (l *loading) check(fs *flag.FlagSet) error {
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	anyOf := func(names ...string) string {
		if i := slices.IndexFunc(names, func(name string) bool { return given[name] }); i >= 0 {
			return "--" + names[i]
		}
		return ""
	}
	if of := anyOf("users", "room-size", "packets", "shares", "rate", "closed", "missed", "ramp", "duration"); of != "" && l.plan.Scenario == mixed {
		return fmt.Errorf("%s needs one --scenario of %s", of, strings.Join(load.Scenarios, ", "))
	}
	if l.plan.Scenario != mixed && !slices.Contains(load.Scenarios, l.plan.Scenario) {
		return fmt.Errorf("--scenario: unknown scenario %q", l.plan.Scenario)
	}
	if of := anyOf("jwt-secret", "jwt-issuer", "jwt-audience"); of != "" && l.urls == "" {
		return fmt.Errorf("%s needs --url", of)
	}
	own := anyOf("hongbao", "embedded", "citus", "instances")
	switch {
	case own != "" && l.urls != "":
		return fmt.Errorf("%s cannot be combined with --url", own)
	case l.urls != "" && l.secret == "":
		return errors.New("--url needs --jwt-secret")
	case l.of.instances < 1:
		return errors.New("--instances must be at least 1")
	case l.of.embedded && l.of.instances > 1:
		return errors.New("--embedded allows one instance only")
	case l.of.embedded && l.of.citus:
		return errors.New("--embedded has no Postgres, so it cannot be combined with --citus")
	}
	for _, p := range l.plans() {
		if err := p.Check(); err != nil {
			return err
		}
	}
	return nil
}

func (l *loading) planFlags(fs *flag.FlagSet) {
	p := &l.plan
	fs.StringVar(&p.Scenario, "scenario", mixed, strings.Join(load.Scenarios, ", ")+", or a small load of each: "+mixed)
	fs.IntVar(&p.Users, "users", 1000, "users, each with a socket")
	fs.IntVar(&p.RoomSize, "room-size", 50, "chat, storm, many packets: users in a room")
	fs.IntVar(&p.Packets, "packets", 1, "grab: packets grabbed at the same time, spread over rooms; 1: hot packets in one room, one after the other; with --closed: number of these")
	fs.IntVar(&p.Shares, "shares", 500, "grab: shares of a packet")
	fs.Float64Var(&p.Rate, "rate", 500, "grabs or messages a second; each is due at its time, whether earlier ones are answered or not")
	fs.BoolVar(&p.Closed, "closed", false, "no rate: each user sends the next request when the last one is answered")
	fs.IntVar(&p.Missed, "missed", 20, "storm: entries of each room while all users are disconnected")
	fs.DurationVar(&p.Ramp, "ramp", 5*time.Second, "time over which the users connect")
	fs.DurationVar(&p.Duration, "duration", 15*time.Second, "duration of the load")
	fs.Uint64Var(&p.Seed, "seed", 1, "seed of the users' actions")
}

func (l *loading) targetFlags(fs *flag.FlagSet) {
	fs.StringVar(&l.of.binary, "hongbao", "", "path of the program to start; empty: it is built")
	fs.BoolVar(&l.of.embedded, "embedded", false, "start it without Redis and Postgres")
	fs.BoolVar(&l.of.citus, "citus", false, "start it with a Citus coordinator and two workers instead of one Postgres")
	fs.IntVar(&l.of.instances, "instances", 1, "number of instances to start")
	fs.BoolFunc("without-search", "start it with HONGBAO_SEARCH=off", func(string) error {
		l.of.settings = append(l.of.settings, "HONGBAO_SEARCH=off")
		return nil
	})
	fs.StringVar(&l.urls, "url", "", "instead of starting instances: http://… of running ones, separated by commas")
	fs.StringVar(&l.secret, "jwt-secret", "", "with --url: the secret that signs the tokens")
	fs.StringVar(&l.issuer, "jwt-issuer", "", "with --url: iss of the tokens")
	fs.StringVar(&l.audience, "jwt-audience", "", "with --url: aud of the tokens")
}

// sameAgain returns the command line that repeats this run, without secrets and paths.
func sameAgain(fs *flag.FlagSet) string {
	words := []string{"hongbao-bench", fs.Name()}
	fs.Visit(func(f *flag.Flag) {
		if !slices.Contains([]string{"jwt-secret", "json", "html", "cpu-profiles", "hongbao"}, f.Name) {
			words = append(words, "--"+f.Name+"="+f.Value.String())
		}
	})
	return strings.Join(words, " ")
}

// plans returns the plans that the flags ask for.
func (l *loading) plans() []load.Plan {
	if l.plan.Scenario != mixed {
		return []load.Plan{l.plan}
	}
	all := []load.Plan{
		{Scenario: "idle", Users: 2000, Ramp: 4 * time.Second, Duration: 5 * time.Second},
		{Scenario: "chat", Users: 500, RoomSize: 50, Rate: 200, Ramp: time.Second, Duration: 10 * time.Second},
		{Scenario: "chat", Users: 200, RoomSize: 20, Closed: true, Ramp: time.Second, Duration: 5 * time.Second},
		{Scenario: "grab", Users: 1000, Shares: 500, Rate: 1000, Ramp: 2 * time.Second, Duration: 5 * time.Second},
		{Scenario: "grab", Users: 500, RoomSize: 50, Packets: 100, Shares: 30, Rate: 1000, Ramp: time.Second, Duration: 5 * time.Second},
		{Scenario: "grab", Users: 500, Packets: 40, Shares: 500, Closed: true, Ramp: time.Second, Duration: 5 * time.Second},
		{Scenario: "storm", Users: 2000, RoomSize: 50, Missed: 20, Ramp: 4 * time.Second, Duration: time.Second},
	}
	for i := range all {
		p := &all[i]
		p.RoomSize, p.Packets, p.Shares, p.Rate, p.Seed = max(p.RoomSize, 1), max(p.Packets, 1), max(p.Shares, 1), max(p.Rate, 1), l.plan.Seed
	}
	return all
}

// profiled returns a function that runs a load, and writes CPU profiles of it into the folder, for `go tool pprof`. Each
// run makes one file of this process, and one of each instance.
func profiled(ctx context.Context, folder string, instances []*instance) func(load.Plan, func() error) error {
	played := 0
	return func(p load.Plan, play func() error) error {
		played++
		if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // readable by everyone, like the reports
			return err
		}
		name := func(part string) string {
			return filepath.Join(folder, fmt.Sprintf("%d-%s-%s.pb.gz", played, p.Scenario, part))
		}
		theirs := make([]error, len(instances))
		var servers sync.WaitGroup
		for n, i := range instances {
			servers.Go(func() { theirs[n] = i.profile(ctx, name(fmt.Sprintf("server-%d", n+1)), p.Duration) })
		}
		err := profileHere(name("generator"), play)
		servers.Wait()
		return errors.Join(err, errors.Join(theirs...))
	}
}

// profileHere writes a CPU profile of this process to the file, while play runs.
func profileHere(name string, play func() error) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return errors.Join(err, file.Close())
	}
	err = play()
	pprof.StopCPUProfile()
	return errors.Join(err, file.Close())
}

// profile lets the instance profile itself for the given time.
func (i *instance) profile(ctx context.Context, name string, lasting time.Duration) error {
	url := fmt.Sprintf("%sdebug/pprof/profile?seconds=%d", i.ops, int(max(lasting, time.Second).Seconds()))
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", url, response.Status)
	}
	return errors.Join(err, writeFile(name, text))
}
