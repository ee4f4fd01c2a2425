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

// hearPatience is how long a message may take to come to everybody.
const hearPatience = 10 * time.Second

// listeners are clients that only count what they hear: a process of its own, so that they have one core and who speaks to
// them the other.
type listeners struct {
	orders  *json.Encoder
	pipe    *os.File // what they report
	reports *json.Decoder
	all     int // messages that all have heard
}

// order has them count anew, messages of this size. Size 0: nothing more comes, and they are to tell what they have heard.
type order struct {
	Size  int  `json:"size"`
	Timed bool `json:"timed"` // each says when it was due
}

// account is what they tell: now and then, and to answer an order.
type account struct {
	Answer bool `json:"answer"`
	All    int  `json:"all"` // messages that all have heard
	// to answer an order
	Most  int           `json:"most"`  // messages that one has heard
	Times int           `json:"times"` // of how many messages it is known when they were due
	P99   time.Duration `json:"p99"`   // after that
}

// listeners starts them. They end when the pipe of their orders is closed, so also when this process dies.
func (s *site) listeners(ctx context.Context, url string, sockets int) (*listeners, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	pipe, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.later(pipe.Close)
	defer theirs.Close() //nolint:errcheck // the copy of it is theirs

	cmd := exec.CommandContext(ctx, self, "listen", "--url", url, "--sockets", strconv.Itoa(sockets)) //nolint:gosec // ourselves
	cmd.Stdout, cmd.Stderr = theirs, os.Stderr
	orders, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s.later(func() error {
		kill := time.AfterFunc(stopPatience, func() { _ = cmd.Process.Kill() })
		_ = orders.Close()
		_ = cmd.Wait() // how it ended it has said itself
		if !kill.Stop() {
			return errors.New("the listeners were killed before they had stopped")
		}
		return nil
	})
	l := &listeners{orders: json.NewEncoder(orders), pipe: pipe, reports: json.NewDecoder(pipe)}
	_, err = l.answer(startPatience)
	return l, err
}

// ask gives an order and waits for the answer.
func (l *listeners) ask(o order) (account, error) {
	if err := l.orders.Encode(o); err != nil {
		return account{}, err
	}
	return l.answer(hearPatience)
}

func (l *listeners) answer(patience time.Duration) (r account, err error) {
	for err == nil && !r.Answer {
		r, err = l.next(patience)
	}
	return r, err
}

// next is the next report.
func (l *listeners) next(patience time.Duration) (r account, err error) {
	if err := l.pipe.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return r, err
	}
	if err := l.reports.Decode(&r); err != nil {
		return r, fmt.Errorf("the listeners do not report: %w", err)
	}
	l.all = r.All
	return r, nil
}

// await returns when everybody has heard so many messages.
func (l *listeners) await(ctx context.Context, messages int) error {
	for l.all < messages {
		if _, err := l.next(hearPatience); err != nil {
			return fmt.Errorf("only %d of %d messages have come to everybody: %w", l.all, messages, errors.Join(err, ctx.Err()))
		}
	}
	return nil
}
