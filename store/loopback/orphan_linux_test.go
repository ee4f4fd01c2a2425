package loopback

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hongbao/store/enginetest"
)

// orphanFolder is an environment variable. If it names a folder, the test binary only starts servers there and waits
// to be killed.
const orphanFolder = "HONGBAO_TEST_ORPHANS"

func startOrphans(dir string) {
	r, err := StartRedis(context.Background(), filepath.Join(dir, "redis"))
	if err == nil {
		var p *Postgres
		if p, err = StartPostgres(context.Background(), filepath.Join(dir, "postgres")); err == nil {
			fmt.Println(r.Addr(), p.Addr())
			select {}
		}
	}
	fmt.Println(err)
	os.Exit(1)
}

func TestNoServerOutlivesItsParent(t *testing.T) {
	t.Parallel()
	enginetest.Need(t, "Redis and Postgres")
	parent := exec.Command(os.Args[0])
	dir := t.TempDir()
	parent.Env = append(os.Environ(), orphanFolder+"="+dir)
	out, err := parent.StdoutPipe()
	noError(t, err)
	noError(t, parent.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	if killed := parent.Process.Kill(); killed != nil || err != nil {
		t.Fatal(killed, err)
	}
	_ = parent.Wait() // the process was killed
	addrs := strings.Fields(line)
	if len(addrs) != 2 {
		t.Fatal(line)
	}
	for _, addr := range addrs {
		if err := waitUntil(within(t, patience), nil, func(context.Context) error { return gone(addr) }); err != nil {
			t.Errorf("%s is still running: %v", addr, err)
		}
	}

	// A new server takes over the folder, including the shared memory that a killed Postgres leaves behind.
	var successor *Postgres
	err = waitUntil(within(t, patience), nil, func(ctx context.Context) (err error) {
		successor, err = StartPostgres(ctx, filepath.Join(dir, "postgres"))
		return err
	})
	noError(t, err)
	successor.Stop()
}

func TestKillEndsTheSessionsToo(t *testing.T) {
	t.Parallel()
	enginetest.Need(t, "Postgres")
	p := startPostgresT(t)
	busy := connect(t, p.URL("postgres"))
	ended := make(chan error, 1)
	go func() { // keeps a session busy that never checks whether its server still exists
		_, err := busy.Exec(context.Background(), "select count(*) /* long */ from generate_series(1, 200000000) a where a % 7 = 3")
		ended <- err
	}()
	awaitBackend(t, p.URL("postgres"), "/* long */")
	p.Kill()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("a statement succeeded without its server")
		}
	case <-within(t, patience).Done():
		t.Error("a session goes on without its server")
	}
	if err := p.Restart(t.Context()); err != nil {
		t.Error(err)
	}
}

// gone returns nil if no process listens there.
func gone(addr string) error {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil //nolint:nilerr // an error is the expected result
	}
	return errors.Join(errors.New("it accepts"), c.Close())
}

// TestStartGivenUpLeavesNothing gives up starting a Postgres at several moments. When StartPostgres has returned, no process may be left
// that could still write files: neither initdb nor what it runs in a shell.
func TestStartGivenUpLeavesNothing(t *testing.T) {
	t.Parallel()
	enginetest.Need(t, "Postgres")
	step := 100 * time.Millisecond
	if enginetest.Tonight("waits") {
		step = 20 * time.Millisecond
	}
	for after := step; after <= 400*time.Millisecond; after += step {
		dir := filepath.Join(t.TempDir(), "postgres")
		ctx, cancel := context.WithTimeout(t.Context(), after)
		p, err := StartPostgres(ctx, dir)
		cancel()
		if err == nil {
			p.Stop()
		}
		names, _ := filepath.Glob("/proc/[0-9]*/environ") // initdb gives Postgres its folder in PGDATA
		for _, name := range names {
			if environ, err := os.ReadFile(name); err == nil && strings.Contains(string(environ), dir) {
				t.Errorf("given up after %v: a process is left: %s: %q", after, name, environ)
			}
		}
	}
}
