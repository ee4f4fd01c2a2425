package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"hongbao/cmd/hongbao-bench/measure"
	"hongbao/cmd/hongbao-bench/schemes"
	"hongbao/store/loopback"
)

// engines holds the settings of the subcommand that compares parts of hongbao, and the whole program, with their peers.
type engines struct {
	rounds  int
	budget  time.Duration
	only    string
	json    bool
	profile string
	hongbao string // path of the hongbao program; empty: it is built
	// centrifugo is the path of a third peer of broadcasts; empty: it does not play.
	centrifugo string
	size       size

	say func(format string, args ...any)
}

// size is the amount of data and clients that the matches prepare. Figures are meaningful at full size only.
type size struct {
	hot       int // shares of a hot packet; fewer in the section events
	packets   int // in matches with many packets; at most 100 in the section events
	repeaters int // sockets that grab a finished packet
	winners   int // sockets that grab in a closed loop
	listeners int // sockets that receive a broadcast
}

func fullSize() size {
	return size{
		hot: 100_000, packets: 1_000, repeaters: 200, winners: 1_000, listeners: 1_000,
	}
}

// section is a group of matches that run one after the other on one testbed.
type section struct {
	name string
	play func(ctx context.Context, e *engines, s *testbed) ([]measure.Result, error)
}

func sections() []section {
	return []section{
		{"pool", playPool},
		{"grab", playGrab},
		{"events", playEvents},
		{"sockets", playSockets},
		{"broadcast", playBroadcast},
	}
}

func enginesCommand() command {
	var names []string
	for _, s := range sections() {
		names = append(names, s.name)
	}
	return command{name: "engines", summary: "run our engines beside their peers: medians of rounds in turn, and their ratio", setup: func(fs *flag.FlagSet) func(context.Context, *program) error {
		e := &engines{size: fullSize()}
		fs.IntVar(&e.rounds, "rounds", 5, "rounds of each match")
		fs.DurationVar(&e.budget, "budget", 1500*time.Millisecond, "time for each side in a round; a slow side does less, not longer")
		fs.StringVar(&e.only, "only", "", "run only these sections, separated by commas: "+strings.Join(names, ", "))
		fs.BoolVar(&e.json, "json", false, "print the results as JSON")
		fs.StringVar(&e.profile, "cpu-profile", "", "write a CPU profile of our side to this file: of the last round of the last match; in broadcast of the server, and else of this program")
		fs.StringVar(&e.hongbao, "hongbao", "", "sockets, broadcast: path of the program to start; empty: it is built")
		fs.StringVar(&e.centrifugo, "centrifugo", "", "broadcast: path of a Centrifugo 6 to start as one more peer; empty: it does not play")
		return func(ctx context.Context, p *program) error {
			e.say = p.say
			return e.run(ctx, p)
		}
	}}
}

func (e *engines) run(ctx context.Context, p *program) error {
	chosen, err := e.choose()
	if err != nil {
		return err
	}
	began := time.Now()
	var results []measure.Result
	for _, s := range chosen {
		played, err := onTestbed(func(testbed *testbed) ([]measure.Result, error) { return s.play(ctx, e, testbed) })
		if err != nil {
			return err
		}
		results = append(results, played...)
	}
	p.say("%d matches of %d rounds in %v", len(results), e.rounds, time.Since(began).Round(time.Second))
	if e.json {
		out := json.NewEncoder(p.stdout)
		out.SetIndent("", "  ")
		return out.Encode(results)
	}
	return measure.Table(p.stdout, results)
}

func (e *engines) choose() ([]section, error) {
	switch {
	case e.rounds < 1:
		return nil, errors.New("--rounds must be at least 1")
	case e.budget <= 0:
		return nil, errors.New("--budget must be more than 0")
	case e.only == "":
		return sections(), nil
	}
	var chosen []section
	for name := range strings.SplitSeq(e.only, ",") {
		i := slices.IndexFunc(sections(), func(s section) bool { return s.name == name })
		if i < 0 {
			return nil, fmt.Errorf("--only: unknown section %q", name)
		}
		chosen = append(chosen, sections()[i])
	}
	return chosen, nil
}

// match runs one match with the settings.
func (e *engines) match(ctx context.Context, m measure.Match) (measure.Result, error) {
	return m.Play(ctx, e.rounds, e.profiled, e.say)
}

// profiled runs one round of our side, with a CPU profile if --cpu-profile names a file. Each round overwrites the file, so the
// profile of the last round stays.
func (e *engines) profiled(side func() error) error {
	if e.profile == "" {
		return side()
	}
	return profileHere(e.profile, side)
}

// testbed is the environment of a section, or of a run of another subcommand: private servers and the connections to them.
// The cleanup functions run at its end, in reverse order.
type testbed struct {
	log     *slog.Logger
	cleanup []func() error
}

// onTestbed runs play with a new testbed and cleans it up.
func onTestbed[T any](play func(s *testbed) (T, error)) (result T, err error) {
	s := &testbed{log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))}
	defer func() {
		for _, clean := range slices.Backward(s.cleanup) {
			err = errors.Join(err, clean())
		}
	}()
	return play(s)
}

// addCleanup adds a cleanup function.
func (s *testbed) addCleanup(clean func() error) { s.cleanup = append(s.cleanup, clean) }

// stopper is any server.
type stopper interface{ Stop() }

// start starts a server in a folder of its own.
func start[S stopper](s *testbed, run func(dir string) (S, error)) (server S, err error) {
	dir, err := os.MkdirTemp("", "hongbao-bench-")
	if err != nil {
		return server, err
	}
	s.addCleanup(func() error { return os.RemoveAll(dir) })
	if server, err = run(dir); err == nil {
		s.addCleanup(func() error { server.Stop(); return nil })
	}
	return server, err
}

func (s *testbed) redis(ctx context.Context) (*loopback.Redis, error) {
	return start(s, func(dir string) (*loopback.Redis, error) { return loopback.StartRedis(ctx, dir) })
}

func (s *testbed) postgres(ctx context.Context) (*loopback.Postgres, error) {
	return start(s, func(dir string) (*loopback.Postgres, error) { return loopback.StartPostgres(ctx, dir) })
}

func (s *testbed) citus(ctx context.Context) (*loopback.Citus, error) {
	return start(s, func(dir string) (*loopback.Citus, error) { return loopback.StartCitus(ctx, dir, 2) })
}

// peerConnections is the number of connections with which the peers are fastest. With more, requests wait in Postgres
// instead of here.
const peerConnections = 32

// schemesMatch is a match of two schemes that make the same grabs on the same servers, as compare makes them.
type schemesMatch struct {
	name                     string
	callers, packets, shares int
	asked                    float64
}

// playPool measures grabs that the pool and lua-list decide in Redis. Neither stores anything in SQL. The pool also
// acknowledges its claims meanwhile; the peer's list of claimed shares only grows during a round.
func playPool(ctx context.Context, e *engines, s *testbed) ([]measure.Result, error) {
	return e.playSchemes(ctx, s, oursPool(s.log), luaListAlone(), []schemesMatch{
		{"hot packet, 1 caller", 1, 1, e.size.hot, 0.9},
		{"hot packet, 20 callers", 20, 1, e.size.hot, 2},
		{"hot packet, 200 callers", 200, 1, e.size.hot, 4},
		{fmt.Sprintf("%d packets, 200 callers", e.size.packets), 200, e.size.packets, 100, 2},
	})
}

// playGrab measures grabs that are decided, committed with fsync and then answered: by the service over Redis and
// Postgres, and by article 3's row lock, one transaction a grab. With many packets, few grabs wait for the same row.
func playGrab(ctx context.Context, e *engines, s *testbed) ([]measure.Result, error) {
	pessimistic, err := choose("pessimistic", schemes.All(), func(n schemes.Named) string { return n.Name })
	if err != nil {
		return nil, err
	}
	return e.playSchemes(ctx, s, oursService(s.log), pessimistic[0], []schemesMatch{
		{"hot packet, committed, 200 callers", 200, 1, e.size.hot, 15},
		{fmt.Sprintf("%d packets, committed, 200 callers", e.size.packets), 200, e.size.packets, 100, 2},
	})
}

// luaListAlone is article 2's script in Redis alone, as the article measured it.
func luaListAlone() schemes.Named {
	return schemes.Named{Name: "lua-list, Redis alone", Make: func(e schemes.Engines) (schemes.Scheme, error) {
		return schemes.NewLuaList(e.Redis, nil), nil
	}}
}

func (e *engines) playSchemes(ctx context.Context, s *testbed, ours, peer schemes.Named, matches []schemesMatch) ([]measure.Result, error) {
	all, err := startServers(ctx, s, peerConnections)
	if err != nil {
		return nil, err
	}
	var results []measure.Result
	for _, m := range matches {
		r, err := e.match(ctx, measure.Match{
			Name: m.name, Unit: "grabs", Asked: measure.Asked{AtLeast: m.asked}, Ours: m.side(e, all, ours), Peer: m.side(e, all, peer),
		})
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

// side is the side of a scheme. Each round begins with an emptied Redis and a new database. A round fails if a check of its
// result fails.
func (m schemesMatch) side(e *engines, all *servers, scheme schemes.Named) measure.Side {
	c := contest{compare: defaultCompare(), scheme: scheme, servers: all}
	c.callers, c.packets, c.shares, c.budget = m.callers, m.packets, m.shares, e.budget
	c.say = func(string, ...any) {}
	return measure.Side{Name: scheme.Name, Ready: func(ctx context.Context, _ int) (measure.Play, error) {
		all.callers = m.callers
		w := c.workload()
		process, _, packets, err := c.begin(ctx, w)
		return func(ctx context.Context) (measure.Round, error) {
			before := all.cpuTime()
			o, _, err := c.run(ctx, w, process, packets)
			used := all.cpuTime() - before
			for _, check := range o.Verdicts {
				if err == nil && !check.Held {
					err = fmt.Errorf("%s: %s", check.Name, check.Detail)
				}
			}
			return measure.Round{Done: o.Won, Took: o.took, CPU: used}, err
		}, err
	}}
}

// each calls do for every item, up to 32 at a time. After an error it begins no more items, and returns the error. It also
// returns an error if there is still work after 5 minutes.
func each[T any](ctx context.Context, all []T, do func(context.Context, T) error) error {
	r, err := measure.Crowd{Callers: 32, Budget: 5 * time.Minute}.Call(ctx, func(ctx context.Context, i int) (bool, error) {
		if i >= len(all) {
			return false, nil
		}
		return true, do(ctx, all[i])
	})
	if err == nil && r.Done < len(all) {
		err = errors.New("preparation took longer than 5 minutes: this machine is too slow")
	}
	return err
}
