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

// attributes make the child die with us. A group of its own keeps the terminal's Ctrl-C from it, so that whoever
// uses it can still finish what was begun, and then stop it.
func attributes(as *account) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true, Credential: as.credential()}
}

// pause returns when the process runs no more.
func pause(p *os.Process) {
	if p.Signal(syscall.SIGSTOP) == nil {
		await(p.Pid, "TtZX")
	}
}

func resume(p *os.Process) { _ = p.Signal(syscall.SIGCONT) }

// killChildren ends what the process started, and returns when none of them holds anything any more: memory that is
// still attached keeps Postgres from being started again.
func killChildren(pid int) {
	list, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return
	}
	var pids []int
	for field := range strings.FieldsSeq(string(list)) {
		if child, err := strconv.Atoi(field); err == nil && syscall.Kill(child, syscall.SIGKILL) == nil {
			pids = append(pids, child)
		}
	}
	for _, child := range pids {
		await(child, "ZX")
	}
}

// await returns when the process is in one of the states, or gone. It gives up on one that the disk holds for long.
func await(pid int, states string) {
	for end := time.Now().Add(stopPatience); time.Now().Before(end); time.Sleep(50 * time.Microsecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		_, state, _ := bytes.Cut(stat, []byte(") ")) // pid (name) state
		if err != nil || len(state) == 0 || strings.IndexByte(states, state[0]) >= 0 {
			return
		}
	}
}
