package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"strings"
	"time"

	"hongbao/cmd/hongbao-bench/load"
)

// compare holds the settings of the subcommand that runs all published schemes and the service on the same workload.
type compare struct {
	callers, packets, shares int
	seed                     uint64
	hot, demo, flaws         bool
	only                     string
	budget                   time.Duration
	json, html               string // names of files to write
	command                  string // command line that repeats this run
	redisURL, databaseURL    string

	connections  int           // to each engine, for each process
	placePackets int           // packets by which the mean share of each rank is measured
	demoTTL      time.Duration // how long the second packet of the demonstration stays open
	limit        time.Duration // deadline of the packets that the refund check lets expire
	late         time.Duration // how long after its deadline such a packet may be refunded

	say func(format string, args ...any)
}

// defaultCompare returns the workload of article 2, as far as the article says it.
func defaultCompare() *compare {
	return &compare{
		callers: 20, packets: 1, shares: 100_000, seed: 1, budget: 5 * time.Second,
		connections: peerConnections, placePackets: 100, demoTTL: time.Minute, limit: 2 * time.Second, late: 3 * time.Second,
	}
}

func compareCommand() command {
	return command{name: "compare", summary: "run the published schemes and ours: speed, and which promises each keeps", setup: func(fs *flag.FlagSet) func(context.Context, *program) error {
		c := defaultCompare()
		fs.IntVar(&c.callers, "callers", c.callers, "number of concurrent callers")
		fs.IntVar(&c.packets, "packets", c.packets, "number of packets open at the same time")
		fs.IntVar(&c.shares, "shares", c.shares, "shares of each packet")
		fs.Uint64Var(&c.seed, "seed", c.seed, "seed of the cut and of the repeated grabs")
		fs.BoolVar(&c.hot, "hot", false, "instead: one packet of 1000 shares and 20,000 users")
		fs.BoolVar(&c.demo, "demo", false, "instead: article 1's demonstration, by its scheme and by ours; takes a minute")
		fs.BoolVar(&c.flaws, "flaws", false, "instead: reproduce each published flaw, and run the same on ours; fails if a flaw is not reproduced or ours has it")
		fs.StringVar(&c.only, "only", "", "run only these schemes, separated by commas: "+strings.Join(namesOf(contenders(nil)), ", ")+"; with --flaws, these flaws")
		fs.DurationVar(&c.budget, "budget", c.budget, "time that each scheme has to grab; a slow scheme does less, and the report says so")
		fs.StringVar(&c.json, "json", "", "write the results to this file")
		fs.StringVar(&c.html, "html", "", "write a report with charts to this file")
		fs.StringVar(&c.redisURL, "redis-url", "", "use (and flush) this empty Redis instead of a private one")
		fs.StringVar(&c.databaseURL, "database-url", "", "create databases on this Postgres instead of a private one")
		return func(ctx context.Context, p *program) error {
			c.say, c.command = p.say, sameAgain(fs)
			return c.run(ctx, p)
		}
	}}
}

// check validates the flags.
func (c *compare) check() error {
	modes := 0
	for _, mode := range []bool{c.hot, c.demo, c.flaws} {
		if mode {
			modes++
		}
	}
	switch {
	case c.callers < 1 || c.packets < 1 || c.shares < 1:
		return errors.New("--callers, --packets and --shares must be at least 1")
	case c.packets > 10_000_000/c.shares:
		return errors.New("--packets times --shares must be at most 10,000,000")
	case c.callers > 10_000:
		return errors.New("--callers must be at most 10,000")
	case c.budget <= 0:
		return errors.New("--budget must be more than 0")
	case modes > 1:
		return errors.New("--hot, --demo and --flaws exclude each other: give one of them")
	case c.demo && c.html != "":
		return errors.New("--demo has no charts: give it without --html")
	case c.flaws && (c.redisURL != "" || c.databaseURL != ""):
		return errors.New("--flaws kills its servers: give it without --redis-url and --database-url")
	}
	return nil
}

func (c *compare) run(ctx context.Context, p *program) error {
	if err := c.check(); err != nil {
		return err
	}
	result := Comparison{Began: time.Now(), Seed: c.seed, Machine: load.ThisMachine().String()}
	_, err := onTestbed(func(s *testbed) (struct{}, error) {
		switch {
		case c.flaws:
			return struct{}{}, c.showFlaws(ctx, p, s, &result)
		case c.demo:
			return struct{}{}, c.demonstrate(ctx, p, s)
		}
		return struct{}{}, c.race(ctx, p, s, &result)
	})
	result.Seconds = time.Since(result.Began).Seconds()
	if len(result.Outcomes)+len(result.Flaws) == 0 {
		return err
	}
	if c.json != "" {
		err = errors.Join(err, writeJSON(c.json, result))
	}
	if c.html != "" {
		err = errors.Join(err, writePage(c.html, result.page(c.command)))
	}
	return err
}

func writeJSON(name string, result any) error {
	text, err := json.MarshalIndent(result, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(text, '\n'), 0o600)
}
