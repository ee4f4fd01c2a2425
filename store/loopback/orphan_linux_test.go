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
)

// orphanFolder in the environment makes the test binary a process that starts servers and waits to be killed.
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
	parent := exec.Command(os.Args[0])
	dir := t.TempDir()
	parent.Env = append(os.Environ(), orphanFolder+"="+dir)
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if killed := parent.Process.Kill(); killed != nil || err != nil {
		t.Fatal(killed, err)
	}
	_ = parent.Wait() // killed
	addrs := strings.Fields(line)
	if len(addrs) != 2 {
		t.Fatal(line)
	}
	for _, addr := range addrs {
		if err := until(within(t, 10*time.Second), nil, func(context.Context) error { return gone(addr) }); err != nil {
			t.Errorf("%s lives on: %v", addr, err)
		}
	}

	// Another one takes the folder over, with the shared memory that a killed Postgres leaves to the system.
	var heir *Postgres
	err = until(within(t, 20*time.Second), nil, func(ctx context.Context) (err error) {
		heir, err = StartPostgres(ctx, filepath.Join(dir, "postgres"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	heir.Stop()
}

func TestKillEndsTheSessionsToo(t *testing.T) {
	p := startPostgresT(t)
	busy := connect(t, p.URL("postgres"))
	ended := make(chan error, 1)
	go func() { // it never looks up whether its server is there still
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
	case <-within(t, 5*time.Second).Done():
		t.Error("a session goes on without its server")
	}
	if err := p.Restart(t.Context()); err != nil {
		t.Error(err)
	}
}

// gone is nil when nobody listens there.
func gone(addr string) error {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil //nolint:nilerr // that is what was hoped for
	}
	return errors.Join(errors.New("it accepts"), c.Close())
}
