//go:build unix && !linux

package loopback

import (
	"os"
	"syscall"
)

// attributes leaves the server in the process group of this process, so that Ctrl-C ends both. If this process dies
// in another way, the server goes on, because only Linux can kill a child with its parent.
func attributes(as *account) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: as.credential()}
}

func pause(p *os.Process) { _ = p.Signal(syscall.SIGSTOP) }

func resume(p *os.Process) { _ = p.Signal(syscall.SIGCONT) }

// killChildren does nothing: the child processes of Postgres end soon after their parent.
func killChildren(int) {}

// pauseChildren does nothing. So Pause stops only the main process of Postgres: no new connection is accepted, but open ones are
// still served.
func pauseChildren(int) {}

func resumeChildren(int) {}
