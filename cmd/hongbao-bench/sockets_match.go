package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"hongbao/cmd/hongbao-bench/load"
	"hongbao/cmd/hongbao-bench/measure"
)

// playSockets measures the whole program over sockets. hongbao, the echo server and Redis are processes of their own. The
// clients run in this process.
func playSockets(ctx context.Context, e *engines, s *testbed) ([]measure.Result, error) {
	in, err := s.install(ctx, installed{binary: e.hongbao, instances: 1})
	if err != nil {
		return nil, err
	}
	var results []measure.Result
	for _, play := range []func(context.Context, *engines, *testbed, *installation) ([]measure.Result, error){
		playAnswers, playWon,
	} {
		played, err := play(ctx, e, s, in)
		if err != nil {
			return nil, err
		}
		results = append(results, played...)
	}
	return results, nil
}

// playAnswers measures grabs of a finished packet. The peer is a bare echo server that returns the same number of
// bytes.
func playAnswers(ctx context.Context, e *engines, s *testbed, in *installation) ([]measure.Result, error) {
	already, empty, err := load.Finished(ctx, in.target, 2*e.size.repeaters)
	s.closeAtCleanup(already, empty)
	if err != nil {
		return nil, err
	}
	url, _, err := s.peerServer(ctx, "echo")
	if err != nil {
		return nil, err
	}
	var results []measure.Result
	for _, asked := range []struct {
		name      string
		repeaters []*load.Repeater
		idle      []*load.Repeater
	}{{"empty", empty, already}, {"already", already, empty}} {
		if _, _, err := load.Repeat(ctx, asked.repeaters, e.budget/10); err != nil { // from now on each socket knows its answer
			return nil, err
		}
		echoed, err := load.EchoRepeaters(ctx, url, asked.repeaters)
		s.closeAtCleanup(echoed)
		if err != nil {
			return nil, err
		}
		r, err := e.match(ctx, measure.Match{
			Name: fmt.Sprintf("%q to grabs over %d sockets", asked.name, len(asked.repeaters)), Unit: "answers", Asked: measure.Asked{AtLeast: 0.9},
			Ours: repeating("server", asked.repeaters, e.budget, asked.idle), Peer: repeating("bare echo", echoed, e.budget, slices.Concat(already, empty)),
		})
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

// repeating is a side in which the repeaters grab. Before each round the repeaters in idle grab once: they answer no
// pings while they wait, and would be disconnected after eight seconds.
func repeating(name string, repeaters []*load.Repeater, budget time.Duration, idle []*load.Repeater) measure.Side {
	return measure.Side{Name: name, Ready: func(ctx context.Context, _ int) (measure.Play, error) {
		_, _, err := load.Repeat(ctx, idle, 0)
		return func(ctx context.Context) (measure.Round, error) {
			answers, took, err := load.Repeat(ctx, repeaters, budget)
			return measure.Round{Done: answers, Took: took}, err
		}, err
	}}
}

func (s *testbed) closeAtCleanup(groups ...[]*load.Repeater) {
	for _, group := range groups {
		for _, a := range group {
			s.addCleanup(a.Close)
		}
	}
}

// peerServer starts this program with a subcommand that runs a server, in a process of its own. The server prints its URL.
func (s *testbed) peerServer(ctx context.Context, args ...string) (url string, pid int, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", 0, err
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), self, args...) //nolint:gosec // this program
	cmd.SysProcAttr = attributes()
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", 0, err
	}
	if err := cmd.Start(); err != nil {
		return "", 0, err
	}
	s.addCleanup(func() error {
		_ = cmd.Process.Kill() // it holds no data
		_ = cmd.Wait()
		return nil
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return "", 0, fmt.Errorf("the server of %q did not start", args)
	}
	return strings.TrimSpace(line), cmd.Process.Pid, nil
}

// playWon measures grabs over sockets that are committed with fsync before the answer. The peer is article 2's script
// in Redis, which stores nothing.
func playWon(ctx context.Context, e *engines, s *testbed, in *installation) ([]measure.Result, error) {
	all, err := startServers(ctx, s, peerConnections)
	if err != nil {
		return nil, err
	}
	plan := load.Plan{
		Scenario: "grab", Users: e.size.winners, Shares: e.size.winners, Closed: true, Duration: e.budget,
		Ramp:    time.Duration(e.size.winners) * 2 * time.Millisecond, // long enough that the pushes after the connects are over when the grabs begin
		Packets: 1 + int(40_000*e.budget.Seconds())/e.size.winners,    // more than can be grabbed
	}
	m := schemesMatch{callers: 20, packets: 1, shares: e.size.hot}
	result, err := e.match(ctx, measure.Match{
		Name: fmt.Sprintf("won over %d sockets, committed", plan.Users), Unit: "grabs", Asked: measure.Asked{AtLeast: 0.35},
		Ours: measure.Side{Name: "server", Ready: func(context.Context, int) (measure.Play, error) {
			return func(ctx context.Context) (measure.Round, error) {
				r, err := played(ctx, in, plan)
				return measure.Round{Done: int(r.Of(load.Won).Count), Took: time.Duration(r.Seconds * float64(time.Second))}, err
			}, nil
		}},
		Peer: m.side(e, all, luaListAlone()),
	})
	return []measure.Result{result}, err
}

// played runs a load, and fails if any check failed.
func played(ctx context.Context, in *installation, plan load.Plan) (load.Result, error) {
	r, err := load.Run(ctx, in.target, plan, func(string, ...any) {})
	if err == nil {
		err = (&loaded{Results: []load.Result{r}}).verdict()
	}
	return r, err
}

// echoCommand is the subcommand that runs a bare echo server. playAnswers starts it in a process of its own, and compares
// hongbao with it.
func echoCommand() command {
	return command{name: "echo", summary: "run a bare WebSocket echo server, the peer of the socket benchmarks; it prints its URL", setup: func(*flag.FlagSet) func(context.Context, *program) error {
		return func(ctx context.Context, p *program) error { return p.serve(ctx, http.HandlerFunc(echo)) }
	}}
}

// serve serves the handler on a free port of loopback until ctx ends, and prints the URL.
func (p *program) serve(ctx context.Context, h http.Handler) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() }) // closes at once: no client waits for an answer
	_, _ = fmt.Fprintf(p.stdout, "ws://%s/\n", l.Addr())
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// echo is the simplest echo loop.
func echo(w http.ResponseWriter, r *http.Request) {
	ws, err := new(websocket.Upgrader).Upgrade(w, r, nil)
	if err != nil {
		return // the upgrader has already answered with an error
	}
	defer ws.Close()
	for {
		kind, message, err := ws.ReadMessage()
		if err != nil || ws.WriteMessage(kind, message) != nil {
			return
		}
	}
}
