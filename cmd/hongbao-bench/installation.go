package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"os"
	"strconv"

	"hongbao/cmd/hongbao-bench/load"
)

// installation is a complete hongbao, whose processes can be measured: the instances, and their Redis and Postgres if they have any.
type installation struct {
	instances []*instance
	target    *load.Target
}

// installed says which parts an installation has.
type installed struct {
	binary    string // the hongbao program; empty: it is built
	embedded  bool   // one instance with SQLite and memory instead of Redis and Postgres
	citus     bool   // a coordinator and two workers instead of one Postgres
	instances int
	settings  []string // of the instances, besides the engines and the secret
}

// install starts an installation.
func (s *testbed) install(ctx context.Context, of installed) (*installation, error) {
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
	in := &installation{}
	var urls []string
	for n := range of.instances {
		i, err := s.instance(ctx, binary, append(append(engines, "HONGBAO_JWT_SECRET="+secret), of.settings...)...)
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
	tokens, err := load.SecretTokens(secret, "", "")
	if err != nil {
		return nil, err
	}
	in.target = load.NewTarget(urls, tokens, processes)
	s.addCleanup(func() error { in.target.Close(); return nil })
	return in, nil
}

// engines starts the servers that the instances share. An embedded installation gets a data folder instead. engines returns the
// settings of the instances, and the processes of the servers.
func (s *testbed) engines(ctx context.Context, of installed) (settings []string, processes []load.Process, err error) {
	if of.embedded {
		dir, err := os.MkdirTemp("", "hongbao-bench-")
		if err != nil {
			return nil, nil, err
		}
		s.addCleanup(func() error { return os.RemoveAll(dir) })
		return []string{"HONGBAO_DATA_DIR=" + dir}, nil, nil
	}
	r, err := s.redis(ctx)
	if err != nil {
		return nil, nil, err
	}
	processes = []load.Process{{Name: "redis", PID: r.PID()}}
	var database string
	if of.citus {
		nodes, err := s.citus(ctx)
		if err != nil {
			return nil, nil, err
		}
		processes = append(processes, load.Process{Name: "coordinator", PID: nodes.Coordinator.PID()})
		for i, worker := range nodes.Workers {
			processes = append(processes, load.Process{Name: "worker " + strconv.Itoa(i+1), PID: worker.PID()})
		}
		if database, err = nodes.NewDatabase(ctx); err != nil {
			return nil, nil, err
		}
	} else {
		pg, err := s.postgres(ctx)
		if err != nil {
			return nil, nil, err
		}
		processes = append(processes, load.Process{Name: "postgres", PID: pg.PID()})
		if database, err = pg.NewDatabase(ctx); err != nil {
			return nil, nil, err
		}
	}
	return []string{"HONGBAO_REDIS_URL=" + r.URL(), "HONGBAO_DATABASE_URL=" + database}, processes, nil
}
