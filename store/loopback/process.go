package loopback

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// process is one run of a server's program. ended is closed when it has ended and was waited for.
type process struct {
	cmd   *exec.Cmd
	clock *Clock
	ended chan struct{}
}

// startProcess runs the command in dir as the account, with the clock. Its output is appended to the file log.
func startProcess(command []string, dir, log string, as *account, clock *Clock) (*process, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close() //nolint:errcheck // only the child process writes to it, through a descriptor of its own

	cmd := exec.Command(command[0], command[1:]...) //nolint:gosec,noctx // programs found by name; no context bounds their life
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	// No other variable of this process affects the server.
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}, clock.environment()...)
	cmd.SysProcAttr = attributes(as)
	p := &process{cmd: cmd, clock: clock, ended: make(chan struct{})}
	started := make(chan error)
	go p.run(started)
	return p, <-started
}

// run starts the child and keeps its thread until the child has ended: Linux kills the child when that thread ends.
func (p *process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err == nil {
		_ = p.cmd.Wait() // the result is in the log and in ProcessState
		p.clock.clean(p.cmd.Process.Pid)
	}
	close(p.ended)
}

func (p *process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// stop sends the signal. If the process has not ended within the timeout, it kills the process.
func (p *process) stop(stopSignal os.Signal, timeout time.Duration) {
	resume(p.cmd.Process)
	if p.cmd.Process.Signal(stopSignal) != nil { // the process has ended, or this system cannot send the signal
		p.kill()
	}
	select {
	case <-p.ended:
	case <-time.After(timeout):
		p.kill()
	}
}

// kill kills the process and, on Linux, its children at once. It returns when they are gone.
func (p *process) kill() {
	if !p.hasEnded() {
		pause(p.cmd.Process) // so that the process neither notices its children's end nor starts others
		killChildren(p.cmd.Process.Pid)
		_ = p.cmd.Process.Kill()
	}
	<-p.ended
}

// logTail returns the end of a log, for an error about a server that did not start.
func logTail(log string) string {
	text, err := os.ReadFile(log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return fmt.Sprintf("%s:\n%s", log, strings.Join(lines[max(0, len(lines)-10):], "\n"))
}
