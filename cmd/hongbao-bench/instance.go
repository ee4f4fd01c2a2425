package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"hongbao/cmd/hongbao-bench/fill"
	"hongbao/cmd/hongbao-bench/load"
)

const (
	startTimeout = time.Minute
	stopTimeout  = 30 * time.Second
)

// instance is one `hongbao serve` in a process of its own.
type instance struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when the process has ended
	open  string        // address that clients connect to
	ops   string        // base URL of the operator's listener
	api   chan string   // receives the address of the server API, if the instance has keys for it
}

// buildHongbao builds the program and returns its path. If ready names a built program, it returns that.
func (s *testbed) buildHongbao(ctx context.Context, ready string) (binary string, err error) {
	if ready != "" {
		return filepath.Abs(ready)
	}
	dir, err := os.MkdirTemp("", "hongbao-bench-")
	if err != nil {
		return "", err
	}
	s.addCleanup(func() error { return os.RemoveAll(dir) })
	binary = filepath.Join(dir, "hongbao")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "hongbao/cmd/hongbao").CombinedOutput(); err != nil { //nolint:gosec // our own program, into our own folder
		return "", fmt.Errorf("build hongbao (or name a ready one by --hongbao): %w\n%s", err, out)
	}
	return binary, nil
}

// instance starts an instance with these settings. It does not pass on settings of hongbao from this process's
// environment.
func (s *testbed) instance(ctx context.Context, binary string, settings ...string) (*instance, error) {
	cmd := exec.Command(binary, "serve") //nolint:noctx // it is stopped with a signal, not with a context
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "HONGBAO_") {
			cmd.Env = append(cmd.Env, pair)
		}
	}
	cmd.Env = append(cmd.Env, "HONGBAO_ADDR=127.0.0.1:0", "HONGBAO_OPS_ADDR=127.0.0.1:0", "HONGBAO_PPROF=on", "HONGBAO_LIMITS=off", "HONGBAO_MAX_OPEN_PACKETS=0", "HONGBAO_LOG_FORMAT=json", "HONGBAO_DRAIN_DELAY=0s", "HONGBAO_DRAIN=0s")
	cmd.Env = append(cmd.Env, settings...)
	cmd.SysProcAttr = attributes()
	log, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	i := &instance{cmd: cmd, ended: make(chan struct{}), api: make(chan string, 1)}
	started, serving := make(chan error), make(chan error, 1)
	go i.run(started)
	if err := <-started; err != nil {
		return nil, err
	}
	s.addCleanup(i.stop)
	go i.follow(log, serving)
	select {
	case err = <-serving:
	case <-time.After(startTimeout):
		err = errors.New("does not serve within a minute")
	case <-ctx.Done():
		err = ctx.Err()
	}
	return i, err
}

// run starts the process and blocks its thread until the process has ended: Linux kills the process when the thread
// that started it ends.
func (i *instance) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := i.cmd.Start()
	started <- err
	if err == nil {
		_, _ = i.cmd.Process.Wait() // the log says how it ended
	}
	close(i.ended)
}

// follow reads the instance's log to its end. It stores the addresses that the log names. It sends nil to serving when
// the instance serves, or the last message if it does not start.
func (i *instance) follow(log io.ReadCloser, serving chan<- error) {
	defer log.Close() //nolint:errcheck // only read
	last := ""
	found := false
	for lines := bufio.NewScanner(log); lines.Scan(); {
		last = lines.Text()
		var line struct {
			Message string `json:"msg"`
			Open    string `json:"open"`
			Ops     string `json:"ops"`
		}
		if json.Unmarshal(lines.Bytes(), &line) != nil {
			continue
		}
		switch {
		case line.Message == "serving" && !found:
			i.open, i.ops, found = line.Open, line.Ops, true
			serving <- nil
		case line.Message == "server API":
			i.api <- line.Open
		}
	}
	_, _ = io.Copy(io.Discard, log) // the rest after a line that is too long
	if !found {
		serving <- fmt.Errorf("hongbao does not start: %s", last)
	}
}

// stop stops the instance with SIGTERM, and kills it after the timeout.
func (i *instance) stop() error {
	if i.cmd.Process.Signal(syscall.SIGTERM) != nil { // it has ended, or the system has no SIGTERM
		_ = i.cmd.Process.Kill()
	}
	select {
	case <-i.ended:
		return nil
	case <-time.After(stopTimeout):
	}
	_ = i.cmd.Process.Kill()
	<-i.ended
	return errors.New("an instance was killed because it did not stop in time")
}

// installation is a complete hongbao, whose processes can be measured: the instances, and their Redis and Postgres if they have any.
type installation struct {
	instances []*instance
	target    *load.Target
}

// installed says which parts an installation has.
type installed struct {
	binary    string  // the hongbao program; empty: it is built
	embedded  bool    // one instance with SQLite and memory instead of Redis and Postgres
	citus     bool    // a coordinator and two workers instead of one Postgres
	scale     float64 // of the database at the beginning, as package fill makes it; 0: it is empty
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
		return []string{"HONGBAO_DATA_DIR=" + dir}, nil, of.fill(ctx, "", dir)
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
	return []string{"HONGBAO_REDIS_URL=" + r.URL(), "HONGBAO_DATABASE_URL=" + database}, processes, of.fill(ctx, database, "")
}

// fill makes the database as large as it is to be.
func (of installed) fill(ctx context.Context, database, folder string) error {
	if of.scale == 0 {
		return nil
	}
	return fill.Database(ctx, database, folder, fill.Full.Times(of.scale), func(fill.Progress) {})
}
