package loopback

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// attributes makes a server die with this process. The server gets its own process group, so that the terminal's
// Ctrl-C does not reach it. After a Ctrl-C this process can thus finish its work and then stop the server.
func attributes(as *account) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true, Credential: as.credential()}
}

// pause stops the process (SIGSTOP) and returns when it has stopped.
func pause(p *os.Process) {
	if p.Signal(syscall.SIGSTOP) == nil {
		await(p.Pid, "TtZX")
	}
}

func resume(p *os.Process) { _ = p.Signal(syscall.SIGCONT) }

func pauseChildren(pid int) { signalChildren(pid, syscall.SIGSTOP) }

func resumeChildren(pid int) { signalChildren(pid, syscall.SIGCONT) }

// signalChildren sends a signal to each child of the process.
func signalChildren(pid int, signal syscall.Signal) {
	list, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return
	}
	for field := range strings.FieldsSeq(string(list)) {
		if child, err := strconv.Atoi(field); err == nil {
			_ = syscall.Kill(child, signal) // it may have ended
		}
	}
}

// killChildren kills the children of the process, and theirs, and returns when they hold no resources. Otherwise Postgres
// could not start again: it refuses to while a process has its shared memory. And the programs that initdb runs in a
// shell would go on writing files.
func killChildren(pid int) {
	list, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return
	}
	var pids []int
	for field := range strings.FieldsSeq(string(list)) {
		child, err := strconv.Atoi(field)
		if err != nil || syscall.Kill(child, syscall.SIGSTOP) != nil {
			continue
		}
		await(child, "TtZX") // from here on it starts no other process
		killChildren(child)
		_ = syscall.Kill(child, syscall.SIGKILL)
		pids = append(pids, child)
	}
	for _, child := range pids {
		await(child, "ZX")
	}
}

// await returns when the process is in one of the states, or gone. It gives up after stopTimeout, because the disk
// may block a process for long.
func await(pid int, states string) {
	for end := time.Now().Add(stopTimeout); time.Now().Before(end); time.Sleep(50 * time.Microsecond) { // sleeps: Linux tells nobody but the parent of a process
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		_, state, _ := bytes.Cut(stat, []byte(") ")) // pid (name) state
		if err != nil || len(state) == 0 || strings.IndexByte(states, state[0]) >= 0 {
			return
		}
	}
}
