package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

const (
	startLimit = time.Minute
	stopLimit  = time.Minute // longer than an instance needs by default to close its sockets and answer its last requests
)

// instance is one `hongbao serve`.
type instance struct {
	url   string
	cmd   *exec.Cmd
	ended chan struct{} // closed when the process has ended and its log is written
}

// startInstance starts an instance and copies its log to out. When the process has ended, the instance is sent to the
// channel ended.
func startInstance(binary, addr string, environ []string, out *lines, ended chan<- *instance) (*instance, error) {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(binary, "serve") //nolint:noctx // it is stopped in order, not with a context
	log := out.under(port)
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = environ, log, log, attributes()
	i := &instance{url: "http://" + addr + "/", cmd: cmd, ended: make(chan struct{})}
	started := make(chan error)
	go i.run(started, ended)
	return i, <-started
}

// run starts the process and waits for its end. It keeps its thread until then, because Linux kills the process when the
// thread that started it ends (see attributes).
func (i *instance) run(started chan<- error, ended chan<- *instance) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := i.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	_ = i.cmd.Wait() // ProcessState has the result
	close(i.ended)
	ended <- i // does not block: the channel has the capacity for all instances
}

// awaitServing returns when the instance answers. It returns an error when the instance has ended, when ctx ends, or after
// startLimit.
func (i *instance) awaitServing(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if i.answers(ctx) {
			return nil
		}
		select {
		case <-i.ended:
			return fmt.Errorf("did not start: %v", i.cmd.ProcessState)
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

func (i *instance) answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, i.url, nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	_ = response.Body.Close() // only read
	return response.StatusCode == http.StatusOK
}

// stop stops the instance gracefully. It kills the instance when hurry ends or after stopLimit, and then returns an error. It also
// returns an error if the instance exits with another code than 0. It returns nil if the instance had ended before the call.
func (i *instance) stop(hurry context.Context) error {
	select {
	case <-i.ended:
		return nil
	default:
	}
	if i.cmd.Process.Signal(syscall.SIGTERM) != nil { // it has just ended, or the system has no SIGTERM
		_ = i.cmd.Process.Kill()
	}
	limit := time.NewTimer(stopLimit)
	defer limit.Stop()
	select {
	case <-i.ended:
		if !i.cmd.ProcessState.Success() {
			return fmt.Errorf("%s stopped with %v", i.url, i.cmd.ProcessState)
		}
		return nil
	case <-hurry.Done():
	case <-limit.C:
	}
	_ = i.cmd.Process.Kill()
	<-i.ended
	return fmt.Errorf("%s was killed before it had stopped", i.url)
}

// The ports to try.
const (
	firstPort = 8080
	lastPort  = 8199
)

// freeAddresses returns the first n loopback addresses, with ports from firstPort on, that no program listens on.
func freeAddresses(ctx context.Context, n int) (free []string, err error) {
	for port := firstPort; port <= lastPort && len(free) < n; port++ {
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
		if err == nil && l.Close() == nil {
			free = append(free, addr)
		}
	}
	if len(free) < n {
		return nil, errors.New("too few free ports from " + strconv.Itoa(firstPort) + " to " + strconv.Itoa(lastPort))
	}
	return free, nil
}
