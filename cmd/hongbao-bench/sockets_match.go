package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

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
	url, err := s.echoServer(ctx)
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

// echoServer starts this program as an echo server.
func (s *testbed) echoServer(ctx context.Context) (url string, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), self, "echo") //nolint:gosec // this program
	cmd.SysProcAttr = attributes()
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	s.addCleanup(func() error {
		_ = cmd.Process.Kill() // it holds no data
		_ = cmd.Wait()
		return nil
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return "", errors.New("the echo server did not start")
	}
	return strings.TrimSpace(line), nil
}
