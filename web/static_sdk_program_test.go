package web_test

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

const programSecret = "a secret of thirty-two bytes, or more"

// program is the real server in a process of its own. A test can kill it and start it again at the same address.
type program struct {
	t      *testing.T
	binary string
	dir    string
	addr   string
	origin string // of the pages that may connect
	cmd    *exec.Cmd
	exited chan struct{} // closed when the process has ended
}

// startProgram builds the server and starts it. It is stopped when the test ends.
func startProgram(t *testing.T, origin string) *program {
	t.Helper()
	p := &program{t: t, binary: filepath.Join(t.TempDir(), "hongbao"), dir: t.TempDir(), addr: quietAddress(t), origin: origin}
	if out, err := exec.Command("go", "build", "-o", p.binary, "hongbao/cmd/hongbao").CombinedOutput(); err != nil {
		t.Fatalf("build the server: %v\n%s", err, out)
	}
	t.Cleanup(func() { p.kill() })
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// start starts the process and returns when it serves requests.
func (p *program) start() error {
	p.cmd = exec.Command(p.binary, "serve", "--addr", p.addr, "--ops-addr", "127.0.0.1:0", "--data-dir", p.dir, "--log-format", "json")
	p.cmd.Env = []string{"HONGBAO_JWT_SECRET=" + programSecret, "HONGBAO_GUESTS=off", "HONGBAO_LIMITS=off", "HONGBAO_ALLOWED_ORIGINS=" + p.origin}
	stderr, err := p.cmd.StderrPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		return err
	}
	cmd, serves, exited := p.cmd, make(chan struct{}), make(chan struct{})
	p.exited = exited
	go func() {
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if bytes.Contains(lines.Bytes(), []byte(`"msg":"serving"`)) {
				close(serves)
			}
		}
		_ = cmd.Wait()
		close(exited)
	}()
	select {
	case <-serves:
		return nil
	case <-exited:
		return fmt.Errorf("the server did not start: %v", cmd.ProcessState)
	case <-time.After(30 * time.Second):
		return fmt.Errorf("the server says nothing")
	}
}

// kill ends the process like kill -9.
func (p *program) kill() {
	if p.exited != nil {
		_ = p.cmd.Process.Kill()
		<-p.exited
	}
}

// quietAddress returns an address that a restarted server can use again. It is outside the range from which the system
// assigns ports.
func quietAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		addr := fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(20_000))
		if l, err := net.Listen("tcp", addr); err == nil {
			_ = l.Close()
			return addr
		}
	}
	t.Fatal("no free port")
	return ""
}
