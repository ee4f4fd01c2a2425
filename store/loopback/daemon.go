package loopback

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	startPatience = time.Minute // two cores may be shared by many servers that start at once
	askPatience   = 3 * time.Second
	stopPatience  = 10 * time.Second
	pollEvery     = 10 * time.Millisecond
)

// errEnded says that a server has ended when it should have become ready.
var errEnded = errors.New("ended by itself")

// daemon is a server with a folder and a port of its own, which can be killed and started again.
type daemon struct {
	// static after launch
	name    string // for errors, and of its log
	dir     string
	as      *account
	bus     bool                 // it also listens busOffset higher
	prepare func(port int) error // may be nil; writes what the command reads, once per port
	command func(port int) []string
	ready   func(ctx context.Context, addr string) error // nil as soon as it serves
	ask     os.Signal                                    // ends it in order
	port    *port

	mu      sync.Mutex // guards what follows
	process *process
}

// launch starts it for the first time, on another port when the chosen one was taken meanwhile.
func (d *daemon) launch(ctx context.Context) error {
	for {
		p, err := claimPort(ctx, d.bus)
		if err != nil {
			return err
		}
		d.port = p
		if d.prepare != nil {
			err = d.prepare(p.number)
		}
		if err == nil {
			err = d.begin(ctx)
		}
		if err == nil {
			return nil
		}
		taken := errors.Is(err, errEnded) && p.lost(ctx)
		d.Stop()
		if !taken {
			return err
		}
	}
}

// Addr is where it listens, as host:port.
func (d *daemon) Addr() string { return address(d.port.number) }

// PID is its process, which has children of its own.
func (d *daemon) PID() int { return d.current().cmd.Process.Pid }

// Restart starts it again on the same port, with the same arguments and what is left in its folder. One that runs
// is stopped in order before.
func (d *daemon) Restart(ctx context.Context) error {
	d.halt()
	return d.begin(ctx)
}

// Kill ends it by kill -9, with its children, and returns when they are gone.
func (d *daemon) Kill() {
	if p := d.current(); p != nil {
		p.kill()
	}
}

// Stop ends it in order and gives its port free. The folder stays. It can be called twice.
func (d *daemon) Stop() {
	d.halt()
	d.port.release()
}

func (d *daemon) halt() {
	if p := d.current(); p != nil {
		p.stop(d.ask, stopPatience)
	}
}

func (d *daemon) current() *process {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.process
}

// begin starts a process and returns when it serves. One that does not is ended.
func (d *daemon) begin(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	log := filepath.Join(d.dir, d.name+".log")
	p, err := startProcess(d.command(d.port.number), d.dir, log, d.as)
	if err != nil {
		return fmt.Errorf("start %s: %w", d.name, err)
	}
	d.mu.Lock()
	d.process = p
	d.mu.Unlock()
	err = until(ctx, p, d.serves)
	if err != nil {
		p.kill()
		return fmt.Errorf("start %s: %w; %s", d.name, err, lastWords(log))
	}
	return nil
}

// serves first tries whether there is anybody: drivers make much of a refused connection. A question is given up
// after a while, because whoever took the port may not answer it.
func (d *daemon) serves(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, "tcp", d.Addr())
	if err != nil {
		return err
	}
	return errors.Join(c.Close(), d.ready(ctx, d.Addr()))
}

// until asks again and again whether something is so, and gives up when the process has ended or the context has.
// The process may be nil.
func until(ctx context.Context, p *process, so func(context.Context) error) error {
	var ended <-chan struct{}
	if p != nil {
		ended = p.ended
	}
	ticks := time.NewTicker(pollEvery)
	defer ticks.Stop()
	for {
		err := so(ctx)
		if p != nil && p.over() {
			return errEnded // and somebody else answered
		}
		if err == nil {
			return nil
		}
		select {
		case <-ended:
			return errEnded
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-ticks.C:
		}
	}
}
