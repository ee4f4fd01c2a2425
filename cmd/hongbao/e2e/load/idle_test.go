package load

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/sync/errgroup"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/enginetest"
	"hongbao/web/user/auth"
)

const (
	idleSockets = 10_000
	idleBudget  = 9 << 10 // bytes of resident memory for each socket, all included
	idleWatch   = 10 * time.Second

	idleGenerator = "HB_IDLE_GENERATOR" // set in the process that generates the sockets
)

// TestIdleSockets measures the memory and CPU time that 10,000 idle sockets cost the server. Each socket is another user's, in a
// room of its own, after one command and one ping. The clients live in a process of their own.
func TestIdleSockets(t *testing.T) {
	enginetest.Nightly(t, "load")
	server := e2e.Start(t, e2e.Build(t, ""), t.TempDir(), "127.0.0.1:0", "HONGBAO_JWT_SECRET="+secret)
	before := residentMemory(t, server)

	generator := exec.Command(os.Args[0])
	generator.Env = append(e2e.BareEnvironment(), idleGenerator+"=1")
	generator.Stderr = os.Stderr
	stdin, err := generator.StdinPipe()
	e2e.NoError(t, err)
	stdout, err := generator.StdoutPipe()
	e2e.NoError(t, err)
	e2e.NoError(t, generator.Start())
	defer func() {
		_ = stdin.Close() // ends the generator
		_ = generator.Wait()
	}()
	_, err = fmt.Fprintln(stdin, server.SocketURL(false))
	e2e.NoError(t, err)
	if answer, err := bufio.NewReader(stdout).ReadString('\n'); answer != "idle\n" {
		t.Fatalf("the generator printed %q (%v), want idle\n%s", answer, err, server.Log())
	}

	after := residentMemory(t, server)
	each := (after - before) / idleSockets
	t.Logf("%d idle sockets: %d bytes of resident memory each (%.1f KiB), %d MiB together", idleSockets, each, float64(each)/1024, (after-before)>>20)
	if each > idleBudget {
		t.Errorf("an idle socket costs %d bytes of resident memory, want at most %d", each, idleBudget)
	}
	began, used := time.Now(), serverCPU(t, server)
	time.Sleep(idleWatch)
	used = serverCPU(t, server) - used
	t.Logf("pings of all sockets use %.1f %% of one core", 100*used.Seconds()/time.Since(began).Seconds())
}

// generateIdle is main of the generator. It reads the server's address, connects all users, prints "idle" when each was pinged,
// and holds the sockets until its input ends.
func generateIdle(stdin io.Reader, stdout io.Writer) (code int) {
	lines := bufio.NewReader(stdin)
	address, err := lines.ReadString('\n')
	if err == nil {
		err = connectIdle(strings.TrimSpace(address))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "generator:", err)
		return 1
	}
	fmt.Fprintln(stdout, "idle")
	_, _ = lines.ReadString('\n') // ends with the test
	return 0
}

func connectIdle(address string) error {
	var all errgroup.Group
	all.SetLimit(64)
	var pinged sync.WaitGroup
	for i := range idleSockets {
		all.Go(func() error {
			s, err := newIdleSocket(address, fmt.Sprint("idle-", i))
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

// idleSocket is a client that sends one command, then only answers pings.
type idleSocket struct{ ws *websocket.Conn }

func newIdleSocket(address, user string) (*idleSocket, error) {
	token, err := auth.Sign([]byte(secret), auth.Claims{User: user}, time.Hour)
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
	if err := s.call(1, `"connect":{"token":"`+token+`"}`); err != nil {
		return nil, err
	}
	return s, s.call(2, `"rpc":{"method":"create_room","data":{"key":"room","name":"a room of one's own","kind":"public"}}`)
}

// call sends a command and reads until it is answered.
func (s *idleSocket) call(id int, command string) error {
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
