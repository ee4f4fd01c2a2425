package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"
)

// receiveTimeout is the longest time in which a message must reach every client.
const receiveTimeout = 10 * time.Second

// receivers are clients that only count messages. They are in another process, so that they have one core and the
// sender the other.
type receivers struct {
	requests *json.Encoder
	pipe     *os.File // carries the reports of the process
	reports  *json.Decoder
	all      int // messages that every client has received
}

// countRequest makes the clients start a new count of messages of this size. With size 0 it ends the count and asks
// for the result.
type countRequest struct {
	Size  int  `json:"size"`
	Timed bool `json:"timed"` // each message carries the time at which it was due
}

// countReport is a report of the clients. They send it from time to time, and as the answer to each request.
type countReport struct {
	Answer bool `json:"answer"`
	All    int  `json:"all"` // messages that every client has received
	// these are set in an answer only
	Most  int           `json:"most"`  // messages that the fastest client has received
	Times int           `json:"times"` // number of messages with a known due time
	P99   time.Duration `json:"p99"`   // 99th percentile of the time from due to received
}

// receivers starts the process of the clients. The process ends when the pipe of its requests is closed, so also when
// this process dies.
func (s *testbed) receivers(ctx context.Context, url string, sockets int) (*receivers, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	pipe, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.addCleanup(pipe.Close)
	defer theirs.Close() //nolint:errcheck // the child has a copy

	cmd := exec.CommandContext(ctx, self, "listen", "--url", url, "--sockets", strconv.Itoa(sockets)) //nolint:gosec // this program
	cmd.Stdout, cmd.Stderr = theirs, os.Stderr
	requests, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s.addCleanup(func() error {
		kill := time.AfterFunc(stopTimeout, func() { _ = cmd.Process.Kill() })
		_ = requests.Close()
		_ = cmd.Wait() // that process has logged how it ended
		if !kill.Stop() {
			return errors.New("the listeners were killed before they had stopped")
		}
		return nil
	})
	l := &receivers{requests: json.NewEncoder(requests), pipe: pipe, reports: json.NewDecoder(pipe)}
	_, err = l.answer(startTimeout)
	return l, err
}

// ask sends a request and waits for the answer.
func (l *receivers) ask(o countRequest) (countReport, error) {
	if err := l.requests.Encode(o); err != nil {
		return countReport{}, err
	}
	return l.answer(receiveTimeout)
}

func (l *receivers) answer(timeout time.Duration) (r countReport, err error) {
	for err == nil && !r.Answer {
		r, err = l.next(timeout)
	}
	return r, err
}

// next reads the next report.
func (l *receivers) next(timeout time.Duration) (r countReport, err error) {
	if err := l.pipe.SetReadDeadline(time.Now().Add(timeout)); err != nil {
		return r, err
	}
	if err := l.reports.Decode(&r); err != nil {
		return r, fmt.Errorf("read a report of the clients: %w", err)
	}
	l.all = r.All
	return r, nil
}

// await waits until every client has received this number of messages.
func (l *receivers) await(ctx context.Context, messages int) error {
	for l.all < messages {
		if _, err := l.next(receiveTimeout); err != nil {
			return fmt.Errorf("only %d of %d messages have reached every client: %w", l.all, messages, errors.Join(err, ctx.Err()))
		}
	}
	return nil
}
