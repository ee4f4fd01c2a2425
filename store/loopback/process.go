package loopback

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// process is one run of a server, from its start until it has ended and was waited for.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{}
}

// startProcess runs the command in dir as the account, its output going to the end of the file log.
func startProcess(command []string, dir, log string, as *account) (*process, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close() //nolint:errcheck // nothing is written through it; the child has its own

	cmd := exec.Command(command[0], command[1:]...) //nolint:gosec,noctx // programs found by name; their life is not that of a context
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"} // nothing of ours decides how a server behaves
	cmd.SysProcAttr = attributes(as)
	p := &process{cmd: cmd, ended: make(chan struct{})}
	started := make(chan error)
	go p.run(started)
	return p, <-started
}

// run keeps its thread until the child is gone: Linux kills the child when the thread that started it ends.
func (p *process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err == nil {
		_ = p.cmd.Wait() // how it ended is in its log and its state
	}
	close(p.ended)
}

// over tells whether it has ended.
func (p *process) over() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// stop asks it to end, and makes it end when it has not within the patience.
func (p *process) stop(ask os.Signal, patience time.Duration) {
	resume(p.cmd.Process)
	if p.cmd.Process.Signal(ask) != nil { // it has ended, or this system cannot ask
		p.kill()
	}
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.kill()
	}
}

// kill ends it and its children at once, as losing power would, and returns when it is gone.
func (p *process) kill() {
	if !p.over() {
		pause(p.cmd.Process) // so that it neither sees its children die nor gets more of them
		killChildren(p.cmd.Process.Pid)
		_ = p.cmd.Process.Kill()
	}
	<-p.ended
}

// lastWords is the end of a log, for an error that says why a server did not start.
func lastWords(log string) string {
	text, err := os.ReadFile(log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return fmt.Sprintf("%s:\n%s", log, strings.Join(lines[max(0, len(lines)-10):], "\n"))
}
