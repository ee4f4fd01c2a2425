package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

const (
	startPatience = time.Minute
	stopPatience  = 30 * time.Second
)

// instance is one `hongbao serve`, a process of its own.
type instance struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when the process has ended
	open  string        // where clients connect
	ops   string        // where the operator does
}

// buildHongbao makes the program, unless there is one.
func (s *site) buildHongbao(ctx context.Context, ready string) (binary string, err error) {
	if ready != "" {
		return filepath.Abs(ready)
	}
	dir, err := os.MkdirTemp("", "hongbao-bench-")
	if err != nil {
		return "", err
	}
	s.later(func() error { return os.RemoveAll(dir) })
	binary = filepath.Join(dir, "hongbao")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "hongbao/cmd/hongbao").CombinedOutput(); err != nil { //nolint:gosec // our own program, into our own folder
		return "", fmt.Errorf("build hongbao (or name a ready one by --hongbao): %w\n%s", err, out)
	}
	return binary, nil
}

// instance starts one with these settings, and nothing of what is set here.
func (s *site) instance(ctx context.Context, binary string, settings ...string) (*instance, error) {
	cmd := exec.Command(binary, "serve") //nolint:noctx // it is stopped in order, not with a context
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "HONGBAO_") {
			cmd.Env = append(cmd.Env, pair)
		}
	}
	cmd.Env = append(cmd.Env, "HONGBAO_ADDR=127.0.0.1:0", "HONGBAO_OPS_ADDR=127.0.0.1:0", "HONGBAO_LIMITS=off", "HONGBAO_LOG_FORMAT=json", "HONGBAO_DRAIN=0s")
	cmd.Env = append(cmd.Env, settings...)
	cmd.SysProcAttr = attributes()
	log, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	i := &instance{cmd: cmd, ended: make(chan struct{})}
	started, serving := make(chan error), make(chan error, 1)
	go i.run(started)
	if err := <-started; err != nil {
		return nil, err
	}
	s.later(i.stop)
	go i.follow(log, serving)
	select {
	case err = <-serving:
	case <-time.After(startPatience):
		err = errors.New("does not serve within a minute")
	case <-ctx.Done():
		err = ctx.Err()
	}
	return i, err
}

// run keeps its thread until the process is gone: Linux kills the process when the thread that started it ends.
func (i *instance) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := i.cmd.Start()
	started <- err
	if err == nil {
		_, _ = i.cmd.Process.Wait() // how it ended is in its log
	}
	close(i.ended)
}

// follow reads the log to its end: where it serves, or what it said last when it does not.
func (i *instance) follow(log io.ReadCloser, serving chan<- error) {
	defer log.Close() //nolint:errcheck // it is only read
	last := ""
	told := false
	for lines := bufio.NewScanner(log); lines.Scan(); {
		last = lines.Text()
		var line struct {
			Message string `json:"msg"`
			Open    string `json:"open"`
			Ops     string `json:"ops"`
		}
		if !told && json.Unmarshal(lines.Bytes(), &line) == nil && line.Message == "serving" {
			i.open, i.ops, told = line.Open, line.Ops, true
			serving <- nil
		}
	}
	_, _ = io.Copy(io.Discard, log) // after a line that is too long
	if !told {
		serving <- fmt.Errorf("hongbao does not start: %s", last)
	}
}

// stop has it stop in order, and kills it when it takes too long.
func (i *instance) stop() error {
	if i.cmd.Process.Signal(syscall.SIGTERM) != nil { // it has ended, or this system cannot ask
		_ = i.cmd.Process.Kill()
	}
	select {
	case <-i.ended:
		return nil
	case <-time.After(stopPatience):
	}
	_ = i.cmd.Process.Kill()
	<-i.ended
	return errors.New("an instance was killed before it had stopped")
}
