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

// compare are the settings of the subcommand: all schemes side by side.
type compare struct {
	callers, packets, shares int
	seed                     uint64
	hot, demo, flaws         bool
	only                     string
	budget                   time.Duration
	json, html               string // files
	command                  string // that does the same again
	redisURL, databaseURL    string

	connections  int           // to each engine that a process has
	placePackets int           // that show the mean share by place
	demoTTL      time.Duration // of the demonstration's second packet
	limit        time.Duration // of the packets whose rest is to be refunded
	late         time.Duration // when it has not come so long after that, it is not believed to come

	say func(format string, args ...any)
}

// defaultCompare is article 2's workload, as far as it goes.
func defaultCompare() *compare {
	return &compare{
		callers: 20, packets: 1, shares: 100_000, seed: 1, budget: 5 * time.Second,
		connections: peerConnections, placePackets: 100, demoTTL: time.Minute, limit: 2 * time.Second, late: 3 * time.Second,
	}
}

func compareCommand() command {
	return command{name: "compare", summary: "the published schemes and ours: speed, and what each keeps of its promises", setup: func(fs *flag.FlagSet) func(context.Context, *program) error {
		c := defaultCompare()
		fs.IntVar(&c.callers, "callers", c.callers, "who grab at the same time")
		fs.IntVar(&c.packets, "packets", c.packets, "packets, open at the same time")
		fs.IntVar(&c.shares, "shares", c.shares, "shares of each packet")
		fs.Uint64Var(&c.seed, "seed", c.seed, "of the cut, and of who presses twice")
		fs.BoolVar(&c.hot, "hot", false, "one packet of 1000 shares, and 20,000 people, instead")
		fs.BoolVar(&c.demo, "demo", false, "article 1's demonstration, by its scheme and by ours, instead; takes a minute")
		fs.BoolVar(&c.flaws, "flaws", false, "reproduce each published flaw, and play the same on ours, instead; fails if either does not come out so")
		fs.StringVar(&c.only, "only", "", "these schemes alone, separated by commas: "+strings.Join(namesOf(contenders(nil)), ", ")+"; with --flaws, these flaws")
		fs.DurationVar(&c.budget, "budget", c.budget, "time each scheme has to grab; who is slow does less, and it is said")
		fs.StringVar(&c.json, "json", "", "write the results to this file")
		fs.StringVar(&c.html, "html", "", "write a report with charts to this file")
		fs.StringVar(&c.redisURL, "redis-url", "", "an empty Redis to be used, and flushed, instead of a private one")
		fs.StringVar(&c.databaseURL, "database-url", "", "a Postgres on which databases may be made, instead of a private one")
		return func(ctx context.Context, p *program) error {
			c.say, c.command = p.say, sameAgain(fs)
			return c.run(ctx, p)
		}
	}}
}

// check the flags.
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
		return errors.New("--hot, --demo and --flaws exclude each other")
	case c.demo && c.html != "":
		return errors.New("--demo has no charts: it goes without --html")
	case c.flaws && (c.redisURL != "" || c.databaseURL != ""):
		return errors.New("--flaws kills its servers: it takes private ones only")
	}
	return nil
}

func (c *compare) run(ctx context.Context, p *program) error {
	if err := c.check(); err != nil {
		return err
	}
	result := Comparison{Began: time.Now(), Seed: c.seed, Machine: load.ThisMachine().String()}
	_, err := onSite(func(s *site) (struct{}, error) {
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
