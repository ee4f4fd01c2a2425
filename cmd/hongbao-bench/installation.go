package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"os"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"hongbao/cmd/hongbao-bench/load"
)

// installation is a whole hongbao of our own, in processes that can be measured.
type installation struct {
	instances []*instance
	target    *load.Target
	database  string // URL; empty: it has none of its own
}

// installed says what an installation is made of.
type installed struct {
	binary    string // empty: it is built
	embedded  bool   // one instance with everything in it, instead of Redis and Postgres
	instances int
}

// install starts one.
func (s *site) install(ctx context.Context, of installed) (*installation, error) {
	binary, err := s.buildHongbao(ctx, of.binary)
	if err != nil {
		return nil, err
	}
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails: crypto/rand stops the process instead
	secret := hex.EncodeToString(key)
	engines, processes, err := s.engines(ctx, of)
	if err != nil {
		return nil, err
	}
	in := &installation{database: databaseOf(engines)}
	var urls []string
	for n := range of.instances {
		i, err := s.instance(ctx, binary, append(engines, "HONGBAO_JWT_SECRET="+secret)...)
		if err != nil {
			return nil, err
		}
		name := "server"
		if of.instances > 1 {
			name += " " + strconv.Itoa(n+1)
		}
		processes = append(processes, load.Process{Name: name, PID: i.cmd.Process.Pid})
		in.instances, urls = append(in.instances, i), append(urls, i.open)
	}
	passes, err := load.SecretPasses(secret, "", "")
	if err != nil {
		return nil, err
	}
	in.target = load.NewTarget(urls, passes, processes)
	s.later(func() error { in.target.Close(); return nil })
	return in, nil
}

// engines starts what the instances share, and says by which settings they find it.
func (s *site) engines(ctx context.Context, of installed) (settings []string, processes []load.Process, err error) {
	if of.embedded {
		dir, err := os.MkdirTemp("", "hongbao-bench-")
		if err != nil {
			return nil, nil, err
		}
		s.later(func() error { return os.RemoveAll(dir) })
		return []string{"HONGBAO_DATA_DIR=" + dir}, nil, nil
	}
	r, err := s.redis(ctx)
	if err != nil {
		return nil, nil, err
	}
	pg, err := s.postgres(ctx)
	if err != nil {
		return nil, nil, err
	}
	database, err := pg.NewDatabase(ctx)
	if err != nil {
		return nil, nil, err
	}
	processes = []load.Process{{Name: "redis", PID: r.PID()}, {Name: "postgres", PID: pg.PID()}}
	return []string{"HONGBAO_REDIS_URL=" + r.URL(), databaseSetting + database}, processes, nil
}

const databaseSetting = "HONGBAO_DATABASE_URL="

func databaseOf(settings []string) string {
	for _, pair := range settings {
		if url, ok := strings.CutPrefix(pair, databaseSetting); ok {
			return url
		}
	}
	return ""
}

// tidy has Postgres do now what it does by itself within minutes after much was written, and then costs more than what is
// measured: clear up, count what is where, without which it plans badly, and write to disk.
func (in *installation) tidy(ctx context.Context) error {
	if in.database == "" {
		return nil
	}
	db, err := pgx.Connect(ctx, in.database)
	if err != nil {
		return err
	}
	defer db.Close(ctx) //nolint:errcheck // all is done by then
	for _, task := range []string{"vacuum analyze", "checkpoint"} {
		if _, err := db.Exec(ctx, task); err != nil {
			return err
		}
	}
	return nil
}
