package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/sync/errgroup"

	"hongbao/web"
)

const (
	idleSockets = 10_000
	idleBudget  = 9 << 10 // bytes of resident memory a socket, all told
	idleWatch   = 10 * time.Second
	idleSecret  = "a secret of the idle test, of no use elsewhere"

	idleGenerator = "HB_IDLE_GENERATOR" // set in the process that generates
)

// TestIdleSockets holds 10,000 sockets of as many people, each in a room of its own after one command and one
// ping, and measures what they cost the server: memory, and time, which goes into pings. The clients live in a process of their own.
func TestIdleSockets(t *testing.T) {
	n := start(t, build(t, ""), t.TempDir(), "127.0.0.1:0", "HONGBAO_JWT_SECRET="+idleSecret)
	before := n.resident()

	generator := exec.Command(os.Args[0])
	generator.Env = append(bareEnvironment(), idleGenerator+"=1")
	generator.Stderr = os.Stderr
	orders, err := generator.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	said, err := generator.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := generator.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = orders.Close() // the generator ends with its orders
		_ = generator.Wait()
	}()
	if _, err := fmt.Fprintln(orders, n.socket(false)); err != nil {
		t.Fatal(err)
	}
	if answer, err := bufio.NewReader(said).ReadString('\n'); answer != "idle\n" {
		t.Fatalf("the generator says %q, %v\n%s", answer, err, n.logged())
	}

	after := n.resident()
	each := (after - before) / idleSockets
	t.Logf("%d idle sockets: %d bytes of RSS each (%.1f KiB), %d MiB together", idleSockets, each, float64(each)/1024, (after-before)>>20)
	if each > idleBudget {
		t.Errorf("an idle socket costs %d bytes, more than %d", each, idleBudget)
	}
	began, worked := time.Now(), n.cpu()
	<-time.After(idleWatch)
	worked = n.cpu() - worked
	t.Logf("meanwhile the server is at work for %.1f %% of one core's time", 100*worked.Seconds()/time.Since(began).Seconds())
}

// resident is the server's RSS in bytes once its garbage is collected and what is free went back to the system:
// the least of what is read until it does not shrink any more.
func (n *node) resident() int64 {
	n.t.Helper()
	least := int64(1) << 62
	for unchanged := 0; unchanged < 3; unchanged++ {
		response, err := http.Get(n.ops + "debug/pprof/heap?gc=1")
		if err != nil {
			n.t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		now := n.rss()
		if now < least-least/200 {
			unchanged = 0
		}
		least = min(least, now)
		<-time.After(time.Second) // the runtime gives pages back in the background
	}
	return least
}

func (n *node) rss() int64 {
	n.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", n.cmd.Process.Pid))
	if err != nil {
		n.t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if kilobytes, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			size, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(kilobytes), " kB"), 10, 64)
			if err != nil {
				n.t.Fatal(err)
			}
			return size << 10
		}
	}
	n.t.Fatal("no VmRSS")
	return 0
}

// cpu is how long the server has worked so far, all cores together.
func (n *node) cpu() (worked time.Duration) {
	n.t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", n.cmd.Process.Pid))
	if err != nil {
		n.t.Fatal(err)
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')'):])) // behind the program's name
	for _, field := range fields[12:14] {                                   // in its own code, and in the kernel
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			n.t.Fatal(err)
		}
		worked += time.Duration(ticks) * time.Second / 100
	}
	return worked
}

// generateIdle is the generator's main: it reads the server's address, connects everyone, says so when everyone
// has been pinged, and holds the sockets until its orders end.
func generateIdle(orders io.Reader, said io.Writer) (code int) {
	lines := bufio.NewReader(orders)
	address, err := lines.ReadString('\n')
	if err == nil {
		err = connectIdle(strings.TrimSpace(address))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "generator:", err)
		return 1
	}
	fmt.Fprintln(said, "idle")
	_, _ = lines.ReadString('\n') // ends when the test does
	return 0
}

func connectIdle(address string) error {
	var all errgroup.Group
	all.SetLimit(64)
	var pinged sync.WaitGroup
	for i := range idleSockets {
		all.Go(func() error {
			s, err := newIdleSocket(address, fmt.Sprint("idler-", i))
			if err != nil {
				return err
			}
			pinged.Add(1)
			go s.answerPings(sync.OnceFunc(pinged.Done)) // ends with the process
			return nil
		})
	}
	err := all.Wait()
	pinged.Wait()
	return err
}

// idleSocket is a client that has said one thing and then only answers pings.
type idleSocket struct{ ws *websocket.Conn }

func newIdleSocket(address, user string) (*idleSocket, error) {
	token, err := web.MintToken([]byte(idleSecret), web.Claims{User: user}, time.Hour)
	if err != nil {
		return nil, err
	}
	dialer := websocket.Dialer{ReadBufferSize: 512, WriteBufferSize: 512, HandshakeTimeout: 20 * time.Second}
	ws, response, err := dialer.DialContext(context.Background(), address, nil)
	if err != nil {
		return nil, fmt.Errorf("dial: %w", err)
	}
	_ = response.Body.Close()
	s := &idleSocket{ws}
	if err := s.ask(1, `"connect":{"token":"`+token+`"}`); err != nil {
		return nil, err
	}
	return s, s.ask(2, `"rpc":{"method":"create_room","data":{"key":"room","name":"a room of one's own"}}`)
}

// ask sends a command and reads until it is answered.
func (s *idleSocket) ask(id int, command string) error {
	if err := s.ws.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"id":%d,%s}`, id, command)); err != nil {
		return err
	}
	for {
		_, data, err := s.ws.ReadMessage()
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(data)) {
			var reply struct {
				ID    int
				Error *struct{ Message string }
			}
			switch err := json.Unmarshal([]byte(line), &reply); {
			case err != nil:
				return err
			case reply.Error != nil:
				return errors.New(reply.Error.Message)
			case reply.ID == id:
				return nil
			}
		}
	}
}

func (s *idleSocket) answerPings(pinged func()) {
	defer pinged()
	for {
		_, data, err := s.ws.ReadMessage()
		if err != nil {
			return
		}
		if strings.TrimSpace(string(data)) != "{}" {
			continue
		}
		if s.ws.WriteMessage(websocket.TextMessage, data) != nil {
			return
		}
		pinged()
	}
}
