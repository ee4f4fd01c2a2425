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

// playSockets has people speak to the whole program over sockets, in processes of their own on both sides.
func playSockets(ctx context.Context, e *engines, s *site) ([]measure.Result, error) {
	in, err := s.install(ctx, installed{binary: e.hongbao, instances: 1})
	if err != nil {
		return nil, err
	}
	var results []measure.Result
	for _, play := range []func(context.Context, *engines, *site, *installation) ([]measure.Result, error){
		playAnswers, playWon, playImpatient, playHandshakes,
	} {
		played, err := play(ctx, e, s, in)
		if err != nil {
			return nil, err
		}
		results = append(results, played...)
	}
	idle, err := playIdle(ctx, e, s)
	return append(results, idle...), err
}

// playAnswers asks about a packet that is done, and a bare echo server for as many bytes.
func playAnswers(ctx context.Context, e *engines, s *site, in *installation) ([]measure.Result, error) {
	already, empty, err := load.Finished(ctx, in.target, 2*e.size.askers)
	s.hangUpLater(already, empty)
	if err != nil {
		return nil, err
	}
	url, err := s.echoServer(ctx)
	if err != nil {
		return nil, err
	}
	var results []measure.Result
	for _, asked := range []struct {
		name   string
		askers []*load.Asker
		idle   []*load.Asker
	}{{"nothing left", empty, already}, {"already", already, empty}} {
		if _, _, err := load.Ask(ctx, asked.askers, e.budget/10); err != nil { // now each knows the answer
			return nil, err
		}
		echoed, err := load.Echoed(ctx, url, asked.askers)
		s.hangUpLater(echoed)
		if err != nil {
			return nil, err
		}
		r, err := e.match(ctx, measure.Match{
			Name: fmt.Sprintf("%q to grabs over %d sockets", asked.name, len(asked.askers)), Unit: "answers", Asked: measure.Asked{AtLeast: 0.9},
			Ours: asking("server", asked.askers, e.budget, asked.idle), Peer: asking("bare echo", echoed, e.budget, slices.Concat(already, empty)),
		})
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

// asking has the askers ask; before each round those who are idle do so once, for they hear no ping meanwhile, and would be hung up
// on after eight seconds.
func asking(name string, askers []*load.Asker, budget time.Duration, idle []*load.Asker) measure.Side {
	return measure.Side{Name: name, Ready: func(ctx context.Context, _ int) (measure.Play, error) {
		_, _, err := load.Ask(ctx, idle, 0)
		return func(ctx context.Context) (measure.Round, error) {
			answers, took, err := load.Ask(ctx, askers, budget)
			return measure.Round{Done: answers, Took: took}, err
		}, err
	}}
}

func (s *site) hangUpLater(groups ...[]*load.Asker) {
	for _, group := range groups {
		for _, a := range group {
			s.later(a.Close)
		}
	}
}

// echoServer is this program once more.
func (s *site) echoServer(ctx context.Context) (url string, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), self, "echo") //nolint:gosec // ourselves
	cmd.SysProcAttr = attributes()
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	s.later(func() error {
		_ = cmd.Process.Kill() // it has nothing to lose
		_ = cmd.Wait()
		return nil
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return "", errors.New("the echo server does not start")
	}
	return strings.TrimSpace(line), nil
}

// asked is a side that is no peer but what was asked for.
func asked(r measure.Round) measure.Side {
	return measure.Side{Name: "asked", Ready: func(context.Context, int) (measure.Play, error) {
		return func(context.Context) (measure.Round, error) { return r, nil }, nil
	}}
}
