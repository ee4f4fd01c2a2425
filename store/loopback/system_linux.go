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
	if p.Signal(syscall.SIGSTOP) != nil {
		return
	}
	for end := time.Now().Add(time.Second); time.Now().Before(end); time.Sleep(50 * time.Microsecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Pid))
		_, state, _ := bytes.Cut(stat, []byte(") ")) // pid (name) state
		if err != nil || len(state) == 0 || strings.IndexByte("TtZX", state[0]) >= 0 {
			return
		}
	}
}

func resume(p *os.Process) { _ = p.Signal(syscall.SIGCONT) }

// children lists the processes that this one started.
func children(pid int) []int {
	list, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return nil
	}
	var pids []int
	for field := range strings.FieldsSeq(string(list)) {
		if child, err := strconv.Atoi(field); err == nil {
			pids = append(pids, child)
		}
	}
	return pids
}
