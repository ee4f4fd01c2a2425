package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/cmd/hongbao-bench/fill"
	"hongbao/cmd/hongbao-bench/growth"
	"hongbao/store/loopback"
)

// growing holds the settings of the subcommand that measures how requests grow with the database.
type growing struct {
	small, big float64
	rounds     int
	embedded   bool
	binary     string
}

func growthCommand() command {
	return command{name: "growth", summary: "make a small and a large database, and compare what each request costs; fails if one grows", setup: func(fs *flag.FlagSet) func(context.Context, *program) error {
		g := growing{}
		fs.Float64Var(&g.small, "small", 0.005, "size of the small database, as --scale of fill")
		fs.Float64Var(&g.big, "big", 0.05, "size of the large one")
		fs.IntVar(&g.rounds, "rounds", 7, "rounds of all requests")
		fs.BoolVar(&g.embedded, "embedded", false, "SQLite instead of Postgres and Redis; no pages are counted")
		fs.StringVar(&g.binary, "hongbao", "", "path of the program to start; empty: it is built")
		return func(ctx context.Context, p *program) error {
			if g.small <= 0 || g.big <= g.small || g.rounds < 1 {
				return errors.New("want 0 < --small < --big, and at least one round")
			}
			rows, err := g.measure(ctx, p.say)
			if err != nil {
				return err
			}
			return printGrowth(p.stdout, rows)
		}
	}}
}

func (g growing) measure(ctx context.Context, say func(format string, args ...any)) ([]growth.Row, error) {
	return onTestbed(func(s *testbed) ([]growth.Row, error) {
		binary, err := s.buildHongbao(ctx, g.binary)
		if err != nil {
			return nil, err
		}
		var postgres *loopback.Postgres
		if !g.embedded {
			if postgres, err = start(s, func(dir string) (*loopback.Postgres, error) {
				return loopback.StartPostgresWith(ctx, dir, growth.Settings...)
			}); err != nil {
				return nil, err
			}
		}
		var sides []growth.Side
		for _, scale := range []float64{g.small, g.big} {
			say("making a database of scale %v", scale)
			side, err := s.filledServer(ctx, binary, postgres, fill.Full.Times(scale))
			if err != nil {
				return nil, err
			}
			sides = append(sides, side)
		}
		return growth.Compare(ctx, sides[0], sides[1], g.rounds, func(round int) { say("round %d of %d", round, g.rounds) })
	})
}

// filledServer starts a server on a new database of this size: in Postgres, or embedded if that is nil.
func (s *testbed) filledServer(ctx context.Context, binary string, postgres *loopback.Postgres, size fill.Size) (side growth.Side, err error) {
	folder, err := os.MkdirTemp("", "hongbao-bench-")
	if err != nil {
		return growth.Side{}, err
	}
	s.addCleanup(func() error { return os.RemoveAll(folder) })
	url, settings := "", []string{"HONGBAO_DATA_DIR=" + folder}
	if postgres != nil {
		redis, err := s.redis(ctx)
		if err != nil {
			return growth.Side{}, err
		}
		if url, err = postgres.NewDatabase(ctx); err != nil {
			return growth.Side{}, err
		}
		settings = []string{"HONGBAO_REDIS_URL=" + redis.URL(), "HONGBAO_DATABASE_URL=" + url}
	}
	if err := fill.Database(ctx, url, folder, size, func(fill.Progress) {}); err != nil {
		return growth.Side{}, err
	}
	if postgres != nil {
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			return growth.Side{}, err
		}
		s.addCleanup(func() error { return conn.Close(context.WithoutCancel(ctx)) })
		if side.Pages, err = growth.Count(ctx, conn); err != nil {
			return growth.Side{}, err
		}
	}
	keys := filepath.Join(folder, "keys")
	if side.Key, err = newAPIKey(ctx, binary, keys); err != nil {
		return growth.Side{}, err
	}
	i, err := s.instance(ctx, binary, append(settings, "HONGBAO_JWT_SECRET="+strings.Repeat("growth", 8), "HONGBAO_API_ADDR=127.0.0.1:0", "HONGBAO_API_KEYS_FILE="+keys)...)
	if err != nil {
		return growth.Side{}, err
	}
	select {
	case api := <-i.api:
		side.API = strings.TrimRight(api, "/")
	case <-ctx.Done():
		err = ctx.Err()
	case <-time.After(startTimeout):
		err = errors.New("the server API is not open after a minute")
	}
	return side, err
}

// newAPIKey adds a key of the server API to the file and returns it.
func newAPIKey(ctx context.Context, binary, file string) (string, error) {
	cmd := exec.CommandContext(ctx, binary, "apikey", "new", "--name", "bench", "--scopes", "admin")
	cmd.Env = append(os.Environ(), "HONGBAO_API_KEYS_FILE="+file)
	key, err := cmd.Output()
	return strings.TrimSpace(string(key)), err
}

// printGrowth prints the table, and returns an error that names what grows.
func printGrowth(out io.Writer, rows []growth.Row) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprint(t, "request\tsmall\tlarge\tratio\tpages small\tlarge\tratio\t\n")
	var grow []string
	var statements strings.Builder
	for _, r := range rows {
		mark := ""
		if r.Scans {
			mark = "bounded"
		}
		if r.Grows() {
			mark, grow = "grows", append(grow, r.Name)
			if r.Big.Statement != "" {
				fmt.Fprintf(&statements, "\n%s reads most pages by\n%s\n", r.Name, r.Big.Statement)
			}
		}
		_, _ = fmt.Fprintf(t, "%s\t%.1f ms\t%.1f ms\t%.2f\t%d\t%d\t%.2f\t%s\n", r.Name, milliseconds(r.Small.Time), milliseconds(r.Big.Time), float64(r.Big.Time)/float64(r.Small.Time),
			r.Small.Pages, r.Big.Pages, float64(r.Big.Pages)/float64(max(r.Small.Pages, 1)), mark)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if _, err := io.WriteString(out, statements.String()); err != nil {
		return err
	}
	if len(grow) > 0 {
		return fmt.Errorf("%d of %d requests grow with the database: %s", len(grow), len(rows), strings.Join(grow, "; "))
	}
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
