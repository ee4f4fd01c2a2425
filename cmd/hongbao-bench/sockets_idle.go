package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"hongbao/cmd/hongbao-bench/load"
	"hongbao/cmd/hongbao-bench/measure"
)

// playHandshakes opens and closes sockets. The time of a round is the server's CPU time.
func playHandshakes(ctx context.Context, e *engines, _ *testbed, in *installation) ([]measure.Result, error) {
	server := load.Process{PID: in.instances[0].cmd.Process.Pid}
	n := 2 * e.size.winners
	r, err := e.match(ctx, measure.Match{
		Name: "handshakes on one core", Unit: "handshakes", Asked: measure.Asked{AtLeast: 1},
		Ours: measure.Side{Name: "server", Ready: func(context.Context, int) (measure.Play, error) {
			return func(ctx context.Context) (measure.Round, error) {
				before := server.Worked()
				err := load.Handshakes(ctx, in.target, n)
				return measure.Round{Done: n, Took: max(server.Worked()-before, time.Millisecond)}, err
			}, nil
		}},
		Peer: asked(measure.Round{Done: 4000, Took: time.Second}),
	})
	return []measure.Result{r}, err
}

const (
	// idleFrom is the time after connecting from which sockets count as idle. By then each was pinged once, and no
	// longer has the stack of its last command.
	idleFrom  = 30 * time.Second
	idleWatch = 10 * time.Second
)

// playIdle holds sockets, each in a room of its own and in one common room, after one command. It measures the memory and the
// CPU time of a server of their own.
func playIdle(ctx context.Context, e *engines, s *testbed) (results []measure.Result, err error) {
	in, err := s.install(ctx, installed{binary: e.hongbao, instances: 1})
	if err != nil {
		return nil, err
	}
	server := load.Process{PID: in.instances[0].cmd.Process.Pid}
	before, err := in.instances[0].resident(ctx)
	if err != nil {
		return nil, err
	}
	n := e.size.idle
	plan := load.Plan{Scenario: "idle", Users: n, Ramp: time.Duration(n) * time.Millisecond / 2, Duration: time.Second}
	err = load.Hold(ctx, in.target, plan, func() error {
		select {
		case <-time.After(min(idleFrom, 20*e.budget)):
		case <-ctx.Done():
		}
		memory, err := e.match(ctx, measure.Match{
			Name: fmt.Sprintf("%d idle sockets, a MiB", n), Unit: "sockets", Asked: measure.Asked{AtLeast: 1},
			Ours: measure.Side{Name: "server", Ready: func(context.Context, int) (measure.Play, error) {
				return func(ctx context.Context) (measure.Round, error) {
					now, err := in.instances[0].resident(ctx)
					grown := max(now-before, 1) // a second stands for a MiB
					return measure.Round{Done: n, Took: time.Duration(grown) * time.Second >> 20}, err
				}, nil
			}},
			Peer: asked(measure.Round{Done: 128, Took: time.Second}), // 8 KiB each
		})
		if err != nil {
			return err
		}
		watch := min(idleWatch, 8*e.budget)
		work, err := e.match(ctx, measure.Match{
			Name: fmt.Sprintf("%d idle sockets, time for a second of work", n), Unit: "ms", Asked: measure.Asked{AtLeast: 1},
			Ours: measure.Side{Name: "server", Ready: func(context.Context, int) (measure.Play, error) {
				return func(ctx context.Context) (measure.Round, error) {
					worked := server.Worked()
					select {
					case <-time.After(watch):
					case <-ctx.Done():
					}
					worked = max(server.Worked()-worked, time.Millisecond)
					return measure.Round{Done: int(watch.Milliseconds()), Took: worked}, ctx.Err()
				}, nil
			}},
			Peer: asked(measure.Round{Done: 1000, Took: 30 * time.Millisecond}), // 3 % of a core
		})
		results = append(results, memory, work)
		return err
	})
	return results, err
}

// resident returns the instance's memory after a garbage collection that has returned free memory to the system. It
// reads until the value no longer shrinks, and returns the least value.
func (i *instance) resident(ctx context.Context) (least int64, err error) {
	least = 1 << 62
	for unchanged := 0; unchanged < 3; unchanged++ {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, i.ops+"debug/pprof/heap?gc=1", nil)
		if err != nil {
			return 0, err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return 0, err
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close() // only read
		now := load.Process{PID: i.cmd.Process.Pid}.Resident()
		if now < least-least/200 {
			unchanged = 0
		}
		least = min(least, now)
		select {
		case <-time.After(time.Second): // the runtime returns pages in the background
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	return least, nil
}
