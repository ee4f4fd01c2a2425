package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"hongbao/store/storetest"
	"hongbao/web/wire"
)

// TestMain makes a place for built programs. The same test binary is the idle test's load generator, in a
// process of its own.
func TestMain(m *testing.M) {
	if os.Getenv(idleGenerator) != "" {
		os.Exit(generateIdle(os.Stdin, os.Stdout))
	}
	dir, err := os.MkdirTemp("", "hongbao-build-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	builds.dir = dir
	code := storetest.Main(m)
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// builds are the programs built so far, by their build tags.
var builds struct {
	mu  sync.Mutex
	dir string
	one map[string]string
}

// build gives the real program, built without the race detector, as people run it.
func build(t *testing.T, tags string) (binary string) {
	t.Helper()
	builds.mu.Lock()
	defer builds.mu.Unlock()
	if binary, ok := builds.one[tags]; ok {
		return binary
	}
	binary = filepath.Join(builds.dir, "hongbao"+tags)
	if out, err := exec.Command("go", "build", "-tags", tags, "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	if builds.one == nil {
		builds.one = map[string]string{}
	}
	builds.one[tags] = binary
	return binary
}

// node is a server in a process of its own.
type node struct {
	t         *testing.T
	binary    string
	dir       string // of an embedded database
	variables []string
	url       *url.URL // where clients connect
	ops       string
	cmd       *exec.Cmd

	mu     sync.Mutex
	log    bytes.Buffer
	exited chan struct{} // closed when the process and its log have ended
}

// start runs a server on the data folder; addr may be port 0. Variables are "NAME=value".
func start(t *testing.T, binary, dir, addr string, variables ...string) *node {
	t.Helper()
	n := &node{t: t, binary: binary, dir: dir, variables: variables, exited: make(chan struct{})}
	n.cmd = exec.Command(binary, "serve", "--addr", addr, "--ops-addr", "127.0.0.1:0", "--data-dir", dir, "--drain", "500ms", "--log-format", "json")
	n.cmd.Env = append(append(bareEnvironment(), "HONGBAO_LIMITS=off"), variables...) // crowds are what is tested
	stderr, err := n.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := n.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.kill)
	served := make(chan struct{})
	go n.follow(stderr, served)
	select {
	case <-served:
	case <-n.exited:
		t.Fatalf("the server did not start:\n%s", n.logged())
	case <-time.After(30 * time.Second):
		t.Fatalf("the server says nothing of its address:\n%s", n.logged())
	}
	return n
}

// freeAddress is one that a server can come back to: the system gives its port to nobody else meanwhile, and
// a client that knocks while nobody is there cannot meet itself, as it could on a port of the system's choice.
func freeAddress(t *testing.T) string {
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

// bareEnvironment is that of the tests, without any setting.
func bareEnvironment() []string {
	var bare []string
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "HONGBAO_") {
			bare = append(bare, pair)
		}
	}
	return bare
}

// follow keeps the log, reads the addresses out of it, and reaps the process.
func (n *node) follow(stderr io.Reader, served chan struct{}) {
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		n.mu.Lock()
		n.log.Write(lines.Bytes())
		n.log.WriteByte('\n')
		n.mu.Unlock()
		var l struct{ Msg, Open, Ops string }
		if json.Unmarshal(lines.Bytes(), &l) == nil && l.Msg == "serving" {
			n.url, _ = url.Parse(l.Open)
			n.ops = l.Ops
			close(served)
		}
	}
	_ = n.cmd.Wait()
	close(n.exited)
}

func (n *node) logged() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.log.String()
}

// kill ends the process as kill -9 does, if it lives, and waits until it is gone.
func (n *node) kill() {
	_ = n.cmd.Process.Kill()
	<-n.exited
	if n.t.Failed() {
		n.t.Logf("log of %s:\n%s", n.url, n.logged())
	}
}

// stop ends the process in good order.
func (n *node) stop() {
	n.t.Helper()
	if err := n.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		n.t.Fatal(err)
	}
	select {
	case <-n.exited:
	case <-time.After(20 * time.Second):
		n.t.Fatalf("the server does not stop:\n%s", n.logged())
	}
	if code := n.cmd.ProcessState.ExitCode(); code != 0 {
		n.t.Errorf("the server stopped with exit code %d:\n%s", code, n.logged())
	}
}

// socket is the address that clients dial.
func (n *node) socket(protobuf bool) string {
	u := *n.url
	u.Scheme, u.Path = "ws", "/v1/socket"
	if protobuf {
		u.RawQuery = "cf_protocol=protobuf"
	}
	return u.String()
}

// post asks something over HTTP, as the bearer of a token if there is one.
func (n *node) post(token, path string, request any) (status int, answer []byte, err error) {
	r, err := http.NewRequest(http.MethodPost, n.url.JoinPath("/v1", path).String(), strings.NewReader(jsonText(request)))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err = io.ReadAll(response.Body)
	return response.StatusCode, answer, err
}

// guest signs a person in.
func (n *node) guest(name string) (guest wire.GuestReply) {
	n.t.Helper()
	_, answer, err := n.post("", "guests", wire.GuestRequest{Name: name})
	if err == nil {
		err = json.Unmarshal(answer, &guest)
	}
	if err != nil || guest.Token == "" {
		n.t.Fatalf("sign in: %s, %v", answer, err)
	}
	return guest
}

// books runs `hongbao audit`, beside the server or without it.
func (n *node) books() audited {
	n.t.Helper()
	report, err := n.tryBooks()
	if err != nil {
		n.t.Fatal(err)
	}
	return report
}

// tryBooks is books while the database may be away. The audit's exit code must agree with what it prints.
func (n *node) tryBooks() (report audited, err error) {
	cmd := exec.Command(n.binary, "audit", "--data-dir", n.dir, "--json")
	cmd.Env = append(bareEnvironment(), n.variables...)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return audited{}, err
	}
	if err := json.Unmarshal(out, &report); err != nil {
		return audited{}, fmt.Errorf("audit: %w\n%s\n%s", err, out, exit.Stderr)
	}
	if report.OK != (exit == nil) {
		n.t.Errorf("audit says %v and exits with %v", report.OK, exit)
	}
	return report, nil
}

// mustBalance fails the test on any difference in the books.
func (n *node) mustBalance() {
	n.t.Helper()
	report := n.books()
	for _, d := range report.Differences {
		n.t.Errorf("the books differ: %s %s: %s", d.Kind, d.ID, d.What)
	}
	if report.Funded != report.InWallets+report.InPackets {
		n.t.Errorf("%d was funded, %d is in wallets, %d in packets", report.Funded, report.InWallets, report.InPackets)
	}
}

// eventually waits until the condition holds.
func eventually(t *testing.T, within time.Duration, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(within)
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("within %v it did not happen: %s", within, what)
		}
	}
}
