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
	startTimeout = time.Minute // generous, because many servers may start at once on two cores
	askTimeout   = 3 * time.Second
	stopTimeout  = 10 * time.Second
	pollEvery    = 10 * time.Millisecond
)

// errEnded means that the server's process ended while waitUntil waited for it, for example before it was ready.
var errEnded = errors.New("ended by itself")

// daemon is a server with its own folder and port. It can be killed and started again.
type daemon struct {
	// immutable after launch
	name       string // used in errors and in the name of the log file
	dir        string
	as         *account
	clock      *Clock
	bus        bool                 // it also listens on its port + busOffset
	prepare    func(port int) error // may be nil; writes the files that the server reads at its start, once for each port
	command    func(port int) []string
	ready      func(ctx context.Context, addr string) error // returns nil as soon as the server serves
	stopSignal os.Signal                                    // stops the server in order
	port       *port

	mu      sync.Mutex // guards the fields below
	process *process
}

// launch starts the server for the first time. If another process takes the chosen port meanwhile, it tries another
// port.
func (d *daemon) launch(ctx context.Context) error {
	for {
		p, err := reservePort(ctx, d.bus)
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

// Addr returns the address that the server listens on, as host:port.
func (d *daemon) Addr() string { return address(d.port.number) }

// PID returns the id of the server's main process, which may have child processes.
func (d *daemon) PID() int { return d.current().cmd.Process.Pid }

// Restart starts the server again on the same port, with the same arguments and the data in its folder. If it runs,
// it is stopped in order first.
func (d *daemon) Restart(ctx context.Context) error {
	d.halt()
	return d.begin(ctx)
}

// Kill kills the server with SIGKILL, and on Linux also its children. It returns when they are gone.
func (d *daemon) Kill() {
	if p := d.current(); p != nil {
		p.kill()
	}
}

// Stop stops the server in order and releases its port. It kills a server that has not ended after 10 s. The folder is
// kept. Stop may be called twice.
func (d *daemon) Stop() {
	d.halt()
	d.port.release()
}

func (d *daemon) halt() {
	if p := d.current(); p != nil {
		p.stop(d.stopSignal, stopTimeout)
	}
}

func (d *daemon) current() *process {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.process
}

// begin starts the server's process and returns when it serves. If it does not serve in time, the process is killed.
func (d *daemon) begin(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	log := filepath.Join(d.dir, d.name+".log")
	p, err := startProcess(d.command(d.port.number), d.dir, log, d.as, d.clock)
	if err != nil {
		return fmt.Errorf("start %s: %w", d.name, err)
	}
	d.mu.Lock()
	d.process = p
	d.mu.Unlock()
	err = waitUntil(ctx, p, d.serves)
	if err != nil {
		p.kill()
		return fmt.Errorf("start %s: %w; %s", d.name, err, logTail(log))
	}
	return nil
}

// serves returns nil if the server answers. It dials first, because drivers are slow to report a refused connection.
// Both steps together have a timeout, because a foreign process on the port may never answer.
func (d *daemon) serves(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, "tcp", d.Addr())
	if err != nil {
		return err
	}
	return errors.Join(c.Close(), d.ready(ctx, d.Addr()))
}

// waitUntil repeats a check until it returns nil, the process ends, or ctx ends. p may be nil: then no process is
// watched.
func waitUntil(ctx context.Context, p *process, so func(context.Context) error) error {
	var ended <-chan struct{}
	if p != nil {
		ended = p.ended
	}
	ticks := time.NewTicker(pollEvery)
	defer ticks.Stop()
	for {
		err := so(ctx)
		if p != nil && p.hasEnded() {
			return errEnded // even if err is nil: another process may have answered on the port
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
