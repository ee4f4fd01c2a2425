package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"hongbao/cmd/hongbao-bench/measure"
)

// engines holds the settings of the subcommand that compares parts of hongbao, and the whole program, with their peers.
type engines struct {
	rounds  int
	budget  time.Duration
	only    string
	json    bool
	profile string
	hongbao string // path of the hongbao program; empty: it is built
	size    size

	say func(format string, args ...any)
}

// size is the amount of data and clients that the matches prepare. Figures are meaningful at full size only.
type size struct {
	hot       int // shares of a hot packet; fewer in the section events
	packets   int // in matches with many packets; at most 100 in the section events
	repeaters int // sockets that grab a finished packet
	winners   int // sockets that grab in a closed loop
}

func fullSize() size {
	return size{
		hot: 100_000, packets: 1_000, repeaters: 200, winners: 1_000,
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
		fs.StringVar(&e.profile, "cpu-profile", "", "write a CPU profile of our side to this file: of the last round of the last match")
		fs.StringVar(&e.hongbao, "hongbao", "", "sockets: path of the program to start; empty: it is built")
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
