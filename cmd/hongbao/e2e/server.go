package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Server is a running `hongbao serve`, in a process of its own. As Balancer.Front it is the address of a load balancer
// before several servers.
type Server struct {
	URL *url.URL // where clients connect
	Dir string   // of an embedded database

	t         *testing.T
	binary    string
	variables []string
	ops       string // address of the operator's listener
	cmd       *exec.Cmd

	mu     sync.Mutex
	log    bytes.Buffer
	exited chan struct{} // closed when the process has ended and its log is read
}

// Start runs a server on the data folder and waits until it serves. The port of addr may be 0. Variables are "NAME=value".
// Rate limits and the bound of open packets are off unless a variable turns them on: most tests connect a crowd from one
// address, and send from few users. An embedded server has no lobby, either. Profiles are on. The drain delay is 0: a stop closes
// sockets without a wait before.
func Start(t *testing.T, binary, dir, addr string, variables ...string) *Server {
	t.Helper()
	s, err := TryStart(t, binary, dir, addr, variables...)
	NoError(t, err)
	return s
}

// TryStart is Start, but returns an error if the server does not serve. Any goroutine may call it.
func TryStart(t *testing.T, binary, dir, addr string, variables ...string) (*Server, error) {
	s := &Server{t: t, binary: binary, Dir: dir, variables: variables, exited: make(chan struct{})}
	s.cmd = exec.Command(binary, "serve", "--addr", addr, "--data-dir", dir, "--drain", "500ms", "--log-format", "json")
	usual := append(BareEnvironment(), "HONGBAO_LIMITS=off", "HONGBAO_MAX_OPEN_PACKETS=0", "HONGBAO_OPS_ADDR=127.0.0.1:0", "HONGBAO_PPROF=on", "HONGBAO_DRAIN_DELAY=0s")
	isScaled := slices.ContainsFunc(variables, func(v string) bool { return strings.HasPrefix(v, "HONGBAO_DATABASE_URL") })
	if !isScaled { // scaled servers have no lobby by default, and older versions do not know the setting
		usual = append(usual, "HONGBAO_LOBBY=off")
	}
	s.cmd.Env = append(usual, variables...)
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	t.Cleanup(s.Kill)
	serving := make(chan struct{})
	go s.follow(stderr, serving)
	select {
	case <-serving:
		return s, nil
	case <-s.exited:
		return nil, fmt.Errorf("the server ended before it served:\n%s", s.Log())
	case <-time.After(Limit(30 * time.Second)):
		s.Kill()
		return nil, fmt.Errorf("the server did not log its address in time:\n%s", s.Log())
	}
}

// Restart starts a server on the folder and the address of s, with the same variables.
func (s *Server) Restart() *Server {
	s.t.Helper()
	return s.RestartWith(s.variables...)
}

// TryRestart is Restart, but returns an error if the server does not serve. Any goroutine may call it.
func (s *Server) TryRestart() (*Server, error) {
	return TryStart(s.t, s.binary, s.Dir, s.URL.Host, s.variables...)
}

// RestartWith starts a server on the folder and the address of s, with other variables.
func (s *Server) RestartWith(variables ...string) *Server {
	s.t.Helper()
	return Start(s.t, s.binary, s.Dir, s.URL.Host, variables...)
}

// RestartAs starts another version of the program on the folder and the address of s, with more variables.
func (s *Server) RestartAs(binary string, more ...string) *Server {
	s.t.Helper()
	return Start(s.t, binary, s.Dir, s.URL.Host, append(slices.Clone(s.variables), more...)...)
}

// FreeAddress returns a loopback address that nothing listens on. It lies outside the range of ports that systems usually give
// out by themselves. So while a server restarts, no other program is given the port, and a client that dials it cannot connect
// to itself.
func FreeAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		addr := fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(20_000))
		if l, err := net.Listen("tcp", addr); err == nil {
			_ = l.Close()
			return addr
		}
	}
	t.Fatal("no free port among 100 random ones from 10000 to 29999")
	return ""
}

// BareEnvironment returns the environment of the tests without the HONGBAO_ variables.
func BareEnvironment() []string {
	var bare []string
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "HONGBAO_") {
			bare = append(bare, pair)
		}
	}
	return bare
}

// follow keeps the log, reads the addresses from it, and reaps the process.
func (s *Server) follow(stderr io.Reader, serving chan struct{}) {
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		s.mu.Lock()
		s.log.Write(lines.Bytes())
		s.log.WriteByte('\n')
		s.mu.Unlock()
		var l struct{ Msg, Open, Ops string }
		if json.Unmarshal(lines.Bytes(), &l) == nil && l.Msg == "serving" {
			s.URL, _ = url.Parse(l.Open)
			s.ops = l.Ops
			close(serving)
		}
	}
	_ = s.cmd.Wait()
	close(s.exited)
}

// Log returns what the server has logged so far.
func (s *Server) Log() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

// AwaitLog waits until the server has logged a text at least so many times.
func (s *Server) AwaitLog(text string, times int) {
	s.t.Helper()
	Eventually(s.t, 10*time.Second, fmt.Sprintf("%s has logged %q %d times", s.URL.Host, text, times), func() bool {
		return strings.Count(s.Log(), text) >= times
	})
}

// PID returns the number of the process.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// Exited is closed when the process has ended.
func (s *Server) Exited() <-chan struct{} { return s.exited }

// Signal sends the process a signal.
func (s *Server) Signal(signal syscall.Signal) error { return s.cmd.Process.Signal(signal) }

// Kill ends the process with SIGKILL if it is alive, and waits until it is gone.
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill()
	<-s.exited
	if s.t.Failed() {
		s.t.Logf("log of %s:\n%s", s.URL, s.Log())
	}
}

// KilledItself waits at most a second for the process to end, and reports whether SIGKILL ended it.
func (s *Server) KilledItself() bool {
	select {
	case <-s.exited:
	case <-time.After(time.Second):
		return false
	}
	status, ok := s.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signal() == syscall.SIGKILL
}

// Stop ends the process with SIGTERM, and fails the test unless it exits within Limit(20 s) with code 0.
func (s *Server) Stop() {
	s.t.Helper()
	NoError(s.t, s.Signal(syscall.SIGTERM))
	select {
	case <-s.exited:
	case <-time.After(Limit(20 * time.Second)):
		s.t.Fatalf("the server did not exit in time after SIGTERM:\n%s", s.Log())
	}
	if code := s.cmd.ProcessState.ExitCode(); code != 0 {
		s.t.Errorf("the server exited with code %d after SIGTERM, want 0:\n%s", code, s.Log())
	}
}

// Freeze stops processes with SIGSTOP, and thaw continues them with SIGCONT. At the end of the test, thaw is called in any case.
func Freeze(t *testing.T, servers ...*Server) (thaw func()) {
	t.Helper()
	signal := func(signal syscall.Signal) {
		for _, s := range servers {
			_ = s.Signal(signal)
		}
	}
	signal(syscall.SIGSTOP)
	thaw = sync.OnceFunc(func() { signal(syscall.SIGCONT) })
	t.Cleanup(thaw)
	return thaw
}
