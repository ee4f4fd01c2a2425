package client_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"go.uber.org/goleak"

	"hongbao/web/client"
	"hongbao/web/client/model"
	"hongbao/web/wire"
)

const secret = "a secret of thirty-two bytes, or more"

var (
	program string  // path of the built server
	shared  *server // for tests and examples that do not kill it
)

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "hongbao-client")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "hongbao")
	if out, err := exec.Command("go", "build", "-o", program, "hongbao/cmd/hongbao").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the server: %v\n%s", err, out)
		return 1
	}
	shared = newServer(filepath.Join(dir, "data"))
	defer shared.kill()
	code := m.Run()
	err = goleak.Find(ignoredGoroutines...)
	for until := time.Now().Add(30 * time.Second); err != nil && time.Now().Before(until); { // Find itself waits half a second
		err = goleak.Find(ignoredGoroutines...)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	return code
}

// ignoredGoroutines are goroutines that may outlive the tests: those of the SDK that wait for answers, some
// permanently, and those of the shared server.
var ignoredGoroutines = []goleak.Option{
	goleak.IgnoreAnyFunction("github.com/centrifugal/centrifuge-go.(*Client).sendAsync.func1"),
	goleak.IgnoreAnyFunction("github.com/centrifugal/centrifuge-go.(*Client).RPC.func1"),
	goleak.IgnoreAnyFunction("hongbao/web/client_test.(*server).follow"),
	goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
	goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"),
}

// server is the real server in a process of its own. A test can kill it and start it again with the same data.
type server struct {
	dir, addr string
	cmd       *exec.Cmd
	log       bytes.Buffer  // may be read when exited is closed
	exited    chan struct{} // closed when the process has ended
}

func newServer(dir string) *server {
	s := &server{dir: dir, addr: freeAddress()}
	s.start()
	return s
}

// ownServer returns a server for one test, which may kill it.
func ownServer(t *testing.T) *server {
	t.Helper()
	s := newServer(t.TempDir())
	t.Cleanup(s.kill)
	return s
}

// start starts the process and returns when it serves requests.
func (s *server) start() {
	s.cmd = exec.Command(program, "serve", "--addr", s.addr, "--ops-addr", "127.0.0.1:0", "--data-dir", s.dir, "--drain", "500ms", "--log-format", "json")
	s.cmd.Env = []string{"HONGBAO_JWT_SECRET=" + secret, "HONGBAO_GUESTS=off", "HONGBAO_LIMITS=off"}
	s.exited = make(chan struct{})
	stderr, err := s.cmd.StderrPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		panic(err)
	}
	served := make(chan struct{})
	go s.follow(bufio.NewScanner(stderr), served, s.cmd, s.exited)
	select {
	case <-served:
	case <-s.exited:
		panic("the server did not start:\n" + s.log.String())
	case <-time.After(30 * time.Second):
		panic("the server does not serve")
	}
}

func (s *server) follow(lines *bufio.Scanner, served chan struct{}, cmd *exec.Cmd, exited chan struct{}) {
	for lines.Scan() {
		s.log.Write(append(lines.Bytes(), '\n'))
		if bytes.Contains(lines.Bytes(), []byte(`"msg":"serving"`)) {
			close(served)
		}
	}
	_ = cmd.Wait()
	close(exited)
}

// kill ends the process like kill -9. start can start it again.
func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	<-s.exited
}

// freeAddress returns an address that a restarted server can use again. It is outside the range from which the system
// assigns ports.
func freeAddress() string {
	for range 100 {
		addr := fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(20_000))
		if l, err := net.Listen("tcp", addr); err == nil {
			_ = l.Close()
			return addr
		}
	}
	panic("no free port")
}

// token returns a token that is valid for ttl.
func token(user, scope string, ttl time.Duration) string {
	return sign(jwt.MapClaims{"sub": user, "name": "Name of " + user, "scope": scope}, ttl)
}

// named returns a token with the given user name.
func named(user, name string, ttl time.Duration) string {
	return sign(jwt.MapClaims{"sub": user, "name": name}, ttl)
}

func sign(claims jwt.MapClaims, ttl time.Duration) string {
	claims["iat"], claims["exp"] = time.Now().Unix(), time.Now().Add(ttl).Unix()
	signed, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte(secret))
	if err != nil {
		panic(err)
	}
	return signed
}

// credit adds money to a user's wallet.
func (s *server) credit(user string, amount int64) {
	if amount == 0 {
		return
	}
	body, _ := json.Marshal(wire.AdjustRequest{User: user, Amount: amount, Key: fmt.Sprint(user, time.Now().UnixNano())})
	request, _ := http.NewRequest(http.MethodPost, "http://"+s.addr+"/v1/admin/credit", bytes.NewReader(body))
	request.Header.Set("Authorization", "Bearer "+token("admin", "hongbao:admin", time.Hour))
	response, err := http.DefaultClient.Do(request)
	if err != nil || response.StatusCode != http.StatusOK {
		panic(fmt.Sprint("credit: ", err, response))
	}
	_ = response.Body.Close()
}

// url returns the URL that clients connect to; addr is the address of the server or of a proxy.
func url(addr string) string { return "ws://" + addr + "/v1/socket" }

// open returns a client that is closed when the test ends.
func open(t *testing.T, addr, user string, change ...func(*client.Options)) *client.Client {
	t.Helper()
	o := client.Options{Token: token(user, "", time.Hour)}
	for _, f := range change {
		f(&o)
	}
	c, err := client.New(url(addr), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func protobuf(o *client.Options) { o.Protobuf = true }

// soon returns a context with the timeout that the tests use for every wait.
func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// must returns a function that returns its first argument and fails the test if its second, the error, is not nil.
func must[T any](t *testing.T) func(T, error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// await takes events until one of type E satisfies fits, and returns it.
func await[E model.Event](t *testing.T, c *client.Client, fits func(E) bool) E {
	t.Helper()
	for event, err := range c.Events(soon(t)) {
		if err != nil {
			t.Fatalf("waiting for %T: %v", *new(E), err)
		}
		if e, ok := event.(E); ok && (fits == nil || fits(e)) {
			return e
		}
	}
	panic("Events ended without error")
}

// unique returns a user id that no other test uses.
func unique(t *testing.T, name string) string {
	return fmt.Sprintf("%s.%s.%d", name, strings.NewReplacer("/", ".", "#", ".").Replace(t.Name()), rand.IntN(1e6))
}

// room creates a public room, which the other users join.
func room(t *testing.T, owner *client.Client, others ...*client.Client) string {
	t.Helper()
	r := must[model.Room](t)(owner.CreateRoom(soon(t), client.NewRoom{Name: t.Name()[:min(len(t.Name()), 60)], Kind: "public"}))
	for _, c := range others {
		must[model.Room](t)(c.Join(soon(t), r.ID))
		await(t, c, func(e model.Entered) bool { return e.Room.ID == r.ID })
	}
	await(t, owner, func(e model.Entered) bool { return e.Room.ID == r.ID })
	return r.ID
}

// sendTexts sends the texts "from" to "to", which are numbers.
func sendTexts(t *testing.T, c *client.Client, room string, from, to int) {
	t.Helper()
	for i := from; i <= to; i++ {
		must[client.Sent](t)(c.Send(soon(t), client.Message{Room: room, Text: fmt.Sprint(i)}))
	}
}

// wantTexts takes entries of a room, which must be the numbered texts in order.
func wantTexts(t *testing.T, c *client.Client, room string, from, to int) {
	t.Helper()
	for i := from; i <= to; i++ {
		e := await(t, c, func(e model.Entry) bool { return e.Room == room })
		if text, ok := e.Body.(model.Text); !ok || text.Text != fmt.Sprint(i) {
			t.Fatalf("got %d %+v, not the text %d", e.Seq, e.Body, i)
		}
	}
}
