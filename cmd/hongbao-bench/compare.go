package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"strings"
	"time"

	"hongbao/cmd/hongbao-bench/load"
)

// compare holds the settings of the subcommand compare. It runs the published schemes and ours on the same workload. With
// --flaws, it reproduces the published flaws instead.
type compare struct {
	callers, packets, shares int
	seed                     uint64
	hot, flaws               bool
	only                     string
	budget                   time.Duration
	json, html               string // names of files to write
	command                  string // command line that repeats this run

	connections  int           // to Postgres, for each process of a scheme; the pool of Redis connections is slightly larger
	placePackets int           // packets by which the mean share of each rank is measured
	limit        time.Duration // time from the opening to the deadline of the packets that the refund check lets expire
	late         time.Duration // how long after its deadline such a packet may be refunded

	say func(format string, args ...any)
}

// defaultCompare returns the workload of article 2, as far as the article says it.
func defaultCompare() *compare {
	return &compare{
		callers: 20, packets: 1, shares: 100_000, seed: 1, budget: 5 * time.Second,
		connections: peerConnections, placePackets: 100, limit: 2 * time.Second, late: 3 * time.Second,
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
		fs.BoolVar(&c.flaws, "flaws", false, "instead: reproduce each published flaw, and run the same on ours; fails if a flaw is not reproduced or ours has it")
		fs.StringVar(&c.only, "only", "", "run only these schemes, separated by commas: "+strings.Join(namesOf(contenders(nil)), ", ")+"; with --flaws, these flaws")
		fs.DurationVar(&c.budget, "budget", c.budget, "time that each scheme has to grab; a slow scheme does less, and the report says so")
		fs.StringVar(&c.json, "json", "", "write the results to this file")
		fs.StringVar(&c.html, "html", "", "write a report with charts to this file")
		return func(ctx context.Context, p *program) error {
			c.say, c.command = p.say, sameAgain(fs)
			return c.run(ctx, p)
		}
	}}
}

// check validates the flags.
func (c *compare) check() error {
	switch {
	case c.callers < 1 || c.packets < 1 || c.shares < 1:
		return errors.New("--callers, --packets and --shares must be at least 1")
	case c.packets > 10_000_000/c.shares:
		return errors.New("--packets times --shares must be at most 10,000,000")
	case c.callers > 10_000:
		return errors.New("--callers must be at most 10,000")
	case c.budget <= 0:
		return errors.New("--budget must be more than 0")
	case c.hot && c.flaws:
		return errors.New("--hot and --flaws exclude each other: give one of them")
	}
	return nil
}

func (c *compare) run(ctx context.Context, p *program) error {
	if err := c.check(); err != nil {
		return err
	}
	result := Comparison{Began: time.Now(), Seed: c.seed, Machine: load.ThisMachine().String()}
	_, err := onTestbed(func(s *testbed) (struct{}, error) {
		if c.flaws {
			return struct{}{}, c.showFlaws(ctx, p, s, &result)
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
	return writeFile(name, append(text, '\n'))
}
