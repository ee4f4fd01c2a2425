package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"hongbao/cmd/hongbao-bench/fill"
	"hongbao/cmd/hongbao-bench/load"
)

func abuseCommand() command {
	return command{name: "abuse", summary: "let honest users act beside as many attackers, and measure what the honest ones wait", setup: func(fs *flag.FlagSet) func(context.Context, *program) error {
		var plan load.Abuse
		var of installed
		fs.IntVar(&plan.Users, "users", 20, "honest users, and as many attackers")
		fs.DurationVar(&plan.Duration, "duration", 5*time.Second, "of each way")
		fs.Float64Var(&of.scale, "scale", 0, "above 0: first make a large database, as --scale of fill; then the only attack is one user that makes the heaviest reads")
		fs.BoolVar(&of.embedded, "embedded", false, "one process with SQLite instead of Redis and Postgres")
		fs.StringVar(&of.binary, "hongbao", "", "path of the program to start; empty: it is built")
		return func(ctx context.Context, p *program) error {
			if plan.Users < 1 || plan.Duration <= 0 || of.scale < 0 {
				return errors.New("--users and --duration must be above 0, and --scale not below")
			}
			results, err := runAbuse(ctx, of, plan)
			if err != nil {
				return err
			}
			return p.printAbuse(plan, results)
		}
	}}
}

// heavyReads are the commands of growth that read most, of the user with most wins.
var heavyReads = []load.Read{
	{Command: "packets", Request: `{"direction":"received","limit":100}`},
	{Command: "find_rooms", Request: `{"query":"the 120","limit":100}`},
	{Command: "history", Request: `{"room":"` + fill.Crowd + `","limit":100}`},
	{Command: "members", Request: `{"room":"` + fill.Crowd + `","limit":1000}`},
	{Command: "presence", Request: `{"room":"` + fill.Crowd + `"}`},
	{Command: "rooms", Request: `{"limit":100}`},
}

// runAbuse runs the load on an installation of one instance.
func runAbuse(ctx context.Context, of installed, plan load.Abuse) ([]load.Abused, error) {
	if of.scale > 0 {
		plan.Reader, plan.Reads = fill.Winner, heavyReads
	}
	of.instances, of.settings = 1, []string{"HONGBAO_LIMITS=on", "HONGBAO_TRUSTED_PROXIES=127.0.0.1"}
	return onTestbed(func(s *testbed) ([]load.Abused, error) {
		in, err := s.install(ctx, of)
		if err != nil {
			return nil, err
		}
		return load.RunAbuse(ctx, in.target, plan)
	})
}

// printAbuse prints a table: one row for each way of abuse.
func (p *program) printAbuse(plan load.Abuse, results []load.Abused) error {
	t := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(t, "%d attackers do\ttimes/s\tsend p50\tp99\thistory p50\tp99\twallet p50\tp99\t\n", plan.Users)
	for _, r := range results {
		_, _ = fmt.Fprintf(t, "%s\t%.0f\t%s\t%s\t%s\t%s\t%s\t%s\t\n", r.Way, float64(r.Attacks)/plan.Duration.Seconds(),
			quantile(r.Send, 50), quantile(r.Send, 99), quantile(r.History, 50), quantile(r.History, 99), quantile(r.Wallet, 50), quantile(r.Wallet, 99))
	}
	return t.Flush()
}

func quantile(h *hdrhistogram.Histogram, percent float64) string {
	return fmt.Sprintf("%.1f ms", float64(h.ValueAtQuantile(percent))/1000)
}
