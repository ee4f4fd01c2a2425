package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"hongbao/cmd/hongbao-bench/load"
	"hongbao/cmd/hongbao-bench/measure"
)

// playBroadcast measures texts in one room of many sockets. Each text comes over HTTP, and hongbao commits it before it tells
// it. The figure is what a delivery costs the server: deliveries for a second of its CPU time. So the load of other programs
// matters little. On a machine with two cores the server has one, and this process, which sends and receives, the other.
func playBroadcast(ctx context.Context, e *engines, s *testbed) ([]measure.Result, error) {
	in, err := s.install(ctx, installed{binary: e.hongbao, embedded: true, instances: 1, settings: []string{"GOMAXPROCS=1"}})
	if err != nil {
		return nil, err
	}
	server := &broadcaster{name: "server", instance: in.instances[0], pid: in.instances[0].cmd.Process.Pid}
	defer oneCore(ctx)()
	useCore(ctx, server.pid, 0)
	server.audience, err = load.RoomAudience(ctx, in.target, e.size.listeners)
	s.addCleanup(server.close)
	if err != nil {
		return nil, err
	}
	if _, err := server.audience.Broadcast(ctx, 1, 0); err != nil { // the peers send as many bytes as this text has
		return nil, err
	}
	peers, err := e.broadcastPeers(ctx, s, server.audience.Example())
	if err != nil {
		return nil, err
	}
	var results []measure.Result
	for _, peer := range peers {
		for i, inFlight := range []int{1, 16, 64} {
			r, err := e.match(ctx, measure.Match{
				Name: fmt.Sprintf("broadcast to %d sockets, %d in flight, for a second of CPU", e.size.listeners, inFlight), Unit: "deliveries",
				Asked: measure.Asked{AtLeast: peer.asked[i]}, Ours: server.side(e, inFlight, e.profile), Peer: peer.side(e, inFlight, ""),
			})
			if err != nil {
				return nil, err
			}
			results = append(results, r)
		}
	}
	return results, nil
}

// broadcaster is a server whose sockets receive a broadcast.
type broadcaster struct {
	name     string
	pid      int
	instance *instance // nil: it is a peer
	audience *load.Audience
	asked    [3]float64 // of a peer: the ratio that is asked for, with 1, 16 and 64 texts in flight
}

func (b *broadcaster) close() error {
	if b.audience == nil {
		return nil
	}
	return b.audience.Close()
}

// side is the side of a server. The time of a round is the CPU time of the server.
func (b *broadcaster) side(e *engines, inFlight int, profile string) measure.Side {
	return measure.Side{Name: b.name, Ready: func(context.Context, int) (measure.Play, error) {
		return func(ctx context.Context) (measure.Round, error) {
			profiled := make(chan error, 1)
			if profile == "" {
				profiled <- nil
			} else {
				go func() { profiled <- b.instance.profile(ctx, profile, e.budget) }()
			}
			before, reads := cpuTimeOfThreads(b.pid), b.audience.Reads()
			texts, err := b.audience.Broadcast(ctx, inFlight, e.budget)
			used := cpuTimeOfThreads(b.pid) - before
			deliveries := texts * e.size.listeners
			if err == nil && used == 0 {
				err = errors.New("the CPU time of the server is not known, or the round is too short")
			}
			if err == nil {
				e.say("%s, %d in flight: %.1f texts in one read", b.name, inFlight, float64(deliveries)/float64(b.audience.Reads()-reads))
			}
			return measure.Round{Done: deliveries, Took: used, CPU: used}, errors.Join(err, <-profiled)
		}, nil
	}}
}

// broadcastPeers starts the peers. Each sends texts of as many bytes as the example.
func (e *engines) broadcastPeers(ctx context.Context, s *testbed, example []byte) ([]*broadcaster, error) {
	text := append([]byte(load.Saying), bytes.Repeat([]byte("x"), max(0, len(example)-len(load.Saying)))...)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	s.addCleanup(func() error { client.CloseIdleConnections(); return nil })
	var peers []*broadcaster
	join := func(b *broadcaster, url string, g load.Greeting, post func(ctx context.Context) error) (err error) {
		useCore(ctx, b.pid, 0)
		b.audience, err = load.NewAudience(ctx, url, e.size.listeners, func(int) (load.Greeting, error) { return g, nil }, post)
		s.addCleanup(b.close)
		peers = append(peers, b)
		return err
	}
	for _, peer := range []struct {
		writer, name string
		asked        [3]float64
	}{
		{"loop", "bare loop, ready frames", [3]float64{0.7, 0.4, 0.3}},
		{"gorilla", "gorilla, a goroutine a socket", [3]float64{1, 1.5, 2}},
	} {
		url, pid, err := s.peerServer(ctx, "fanout", "--writer", peer.writer)
		if err != nil {
			return nil, err
		}
		err = join(&broadcaster{name: peer.name, pid: pid, asked: peer.asked}, url,
			fanoutGreeting(),
			poster(client, "http"+strings.TrimPrefix(url, "ws"), nil, text))
		if err != nil {
			return nil, err
		}
	}
	if e.centrifugo == "" {
		return peers, nil
	}
	host, pid, err := s.centrifugo(ctx, e.centrifugo)
	if err != nil {
		return nil, err
	}
	subscribe := load.Greeting{
		Send:  []byte(`{"id":1,"connect":{}}` + "\n" + `{"id":2,"subscribe":{"channel":"room"}}`),
		Ready: func(text []byte) bool { return bytes.HasPrefix(text, []byte(`{"id":2,"subscribe"`)) },
	}
	envelope := len(`{"push":{"channel":"room","pub":{"data":""}}}`)
	request := fmt.Appendf(nil, `{"channel":"room","data":%q}`, text[:max(len(load.Saying), len(text)-envelope)])
	err = join(&broadcaster{name: "Centrifugo, in memory, without history", pid: pid, asked: [3]float64{1.5, 1.5, 2}}, "ws://"+host+"/connection/websocket", subscribe,
		poster(client, "http://"+host+"/api/publish", http.Header{"Content-Type": {"application/json"}}, request))
	return peers, err
}

// poster returns a function that posts the same body each time.
func poster(client *http.Client, url string, header http.Header, body []byte) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
		if err != nil {
			return err
		}
		if header != nil {
			r.Header = header
		}
		response, err := client.Do(r)
		if err != nil {
			return err
		}
		defer response.Body.Close() //nolint:errcheck // only read
		answer, err := io.ReadAll(response.Body)
		if err == nil && (response.StatusCode != http.StatusOK || bytes.Contains(answer, []byte(`"error"`))) {
			err = fmt.Errorf("%s: %s: %.200s", url, response.Status, answer)
		}
		return err
	}
}

// centrifugo starts a Centrifugo with its engine in memory, and returns its address when it listens.
func (s *testbed) centrifugo(ctx context.Context, program string) (host string, pid int, err error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", 0, err
	}
	host = l.Addr().String()
	if err := l.Close(); err != nil { // another program may take the port before Centrifugo does: then it does not start
		return "", 0, err
	}
	_, port, err := net.SplitHostPort(host)
	if err != nil {
		return "", 0, err
	}
	if program, err = filepath.Abs(program); err != nil {
		return "", 0, err
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program)
	cmd.Dir = os.TempDir() // without a configuration file
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "CENTRIFUGO_HTTP_SERVER_ADDRESS=127.0.0.1", "CENTRIFUGO_HTTP_SERVER_PORT="+port,
		"CENTRIFUGO_CLIENT_INSECURE=true", "CENTRIFUGO_HTTP_API_INSECURE=true", "CENTRIFUGO_LOG_LEVEL=error")
	cmd.SysProcAttr = attributes()
	if err := cmd.Start(); err != nil {
		return "", 0, err
	}
	s.addCleanup(func() error {
		_ = cmd.Process.Kill() // it holds no data
		_ = cmd.Wait()
		return nil
	})
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", host)
		if err == nil {
			return host, cmd.Process.Pid, conn.Close()
		}
		if time.Since(began) > startTimeout {
			return "", 0, fmt.Errorf("the server Centrifugo does not listen within a minute: %w", err)
		}
	}
}

// fanoutReady is the first message that a client sends over a socket, and the answer. Then the socket receives each text.
const fanoutReady = "ready"

func fanoutGreeting() load.Greeting {
	return load.Greeting{Send: []byte(fanoutReady), Ready: func(text []byte) bool { return string(text) == fanoutReady }}
}

// fanoutCommand is the subcommand that runs a peer of a broadcast. A request to its URL with POST sends the body to all sockets.
func fanoutCommand() command {
	return command{name: "fanout", summary: "run a server that sends what is posted to all sockets, the peer of the broadcasts; it prints its URL", setup: func(fs *flag.FlagSet) func(context.Context, *program) error {
		writer := fs.String("writer", "loop", "loop: one goroutine writes ready frames to all sockets; gorilla: each socket has a goroutine that writes")
		return func(ctx context.Context, p *program) error {
			runtime.GOMAXPROCS(1) // as the other side has it
			switch *writer {
			case "loop":
				f := &frameLoop{more: make(chan struct{}, 1)}
				go f.run(ctx)
				return p.serve(ctx, fanout{f})
			case "gorilla":
				return p.serve(ctx, fanout{&socketWriters{}})
			}
			return fmt.Errorf("--writer: unknown writer %q", *writer)
		}
	}}
}

// fanout upgrades sockets and sends them what is posted.
type fanout struct{ to receivers }

// receivers are the sockets of a peer.
type receivers interface {
	// add adds a socket and writes fanoutReady to it. A client that has read that gets every text that is sent from then on.
	add(ws *websocket.Conn)
	// send sends a text to all sockets. It does not wait until it is written.
	send(text []byte)
}

// ServeHTTP implements http.Handler.
func (f fanout) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		f.to.send(text)
		return
	}
	ws, err := new(websocket.Upgrader).Upgrade(w, r, nil)
	if err != nil {
		return // the upgrader has already answered with an error
	}
	defer ws.Close()
	if _, _, err = ws.ReadMessage(); err == nil {
		f.to.add(ws)
	}
	for err == nil {
		_, _, err = ws.ReadMessage()
	}
}

// frameLoop is the ceiling: one goroutine writes ready frames to one socket after the other. The texts that come meanwhile
// leave in the next write of each socket.
type frameLoop struct {
	more chan struct{} // gets a value when there are frames; one slot

	mu      sync.Mutex
	sockets []net.Conn // guarded by mu; only appended to
	frames  []byte     // guarded by mu
}

func (f *frameLoop) add(ws *websocket.Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_ = ws.WriteMessage(websocket.TextMessage, []byte(fanoutReady)) // if it fails, the client notices
	f.sockets = append(f.sockets, ws.NetConn())
}

func (f *frameLoop) send(text []byte) {
	f.mu.Lock()
	f.frames = append(f.frames, textFrame(text)...)
	f.mu.Unlock()
	select {
	case f.more <- struct{}{}:
	default:
	}
}

func (f *frameLoop) run(ctx context.Context) {
	var frames []byte
	for {
		select {
		case <-f.more:
		case <-ctx.Done():
			return
		}
		f.mu.Lock()
		frames, f.frames = f.frames, frames[:0]
		sockets := f.sockets
		f.mu.Unlock()
		for _, conn := range sockets {
			_, _ = conn.Write(frames) // if it fails, the client has too few texts
		}
	}
}

// textFrame returns a WebSocket frame as a server sends it, of a text shorter than 64 KiB.
func textFrame(text []byte) []byte {
	if len(text) < 126 {
		return append([]byte{0x81, byte(len(text))}, text...)
	}
	return append([]byte{0x81, 126, byte(len(text) >> 8), byte(len(text))}, text...)
}

// socketWriters is the usual way with gorilla: each socket has a queue and a goroutine, which writes all texts of the queue as
// the lines of one message.
type socketWriters struct {
	mu     sync.Mutex
	queues []chan []byte // guarded by mu; only appended to
}

func (w *socketWriters) add(ws *websocket.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = ws.WriteMessage(websocket.TextMessage, []byte(fanoutReady)) // if it fails, the client notices
	queue := make(chan []byte, 256)
	go writeTexts(ws, queue)
	w.queues = append(w.queues, queue)
}

func (w *socketWriters) send(text []byte) {
	w.mu.Lock()
	queues := w.queues
	w.mu.Unlock()
	for _, queue := range queues {
		queue <- text
	}
}

// writeTexts writes what comes into the queue. It ends with the process.
func writeTexts(ws *websocket.Conn, queue <-chan []byte) {
	var lines []byte
	for text := range queue {
		lines = append(lines[:0], text...)
		for range len(queue) {
			lines = append(append(lines, '\n'), <-queue...)
		}
		_ = ws.SetWriteDeadline(time.Now().Add(10 * time.Second))
		if ws.WriteMessage(websocket.TextMessage, lines) != nil {
			return
		}
	}
}

// oneCore pins this process to its second core, if it has two. Until undo it runs on one core.
func oneCore(ctx context.Context) (undo func()) {
	threads := runtime.GOMAXPROCS(1)
	useCore(ctx, os.Getpid(), 1)
	return func() {
		pin(context.WithoutCancel(ctx), os.Getpid(), usable())
		runtime.GOMAXPROCS(threads)
	}
}

// useCore pins a process to the n-th of the cores that this process may use. With fewer than two it does nothing.
func useCore(ctx context.Context, pid, n int) {
	if all := usable(); len(all) > 1 {
		pin(ctx, pid, all[n:n+1])
	}
}

// pin pins all threads of a process, present and future, to the cores. Without the program taskset it does nothing.
func pin(ctx context.Context, pid int, to []int) {
	if len(to) == 0 {
		return
	}
	names := make([]string, len(to))
	for i, core := range to {
		names[i] = strconv.Itoa(core)
	}
	_ = exec.CommandContext(ctx, "taskset", "-acp", strings.Join(names, ","), strconv.Itoa(pid)).Run() //nolint:gosec // numbers
}

// usable returns the cores that this process could use before it was pinned; nil: unknown.
var usable = sync.OnceValue(func() (list []int) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return nil
	}
	_, rest, _ := strings.Cut(string(status), "Cpus_allowed_list:")
	ranges, _, _ := strings.Cut(rest, "\n")
	for r := range strings.SplitSeq(strings.TrimSpace(ranges), ",") {
		first, last, isRange := strings.Cut(r, "-")
		from, err := strconv.Atoi(first)
		to := from
		if err == nil && isRange {
			to, err = strconv.Atoi(last)
		}
		if err != nil {
			return nil
		}
		for core := from; core <= to; core++ {
			list = append(list, core)
		}
	}
	return list
})
