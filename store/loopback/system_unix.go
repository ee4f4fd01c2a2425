//go:build unix && !linux

package loopback

import (
	"os"
	"syscall"
)

// attributes leave the child in our group: Ctrl-C ends both, as nothing else would if we died.
func attributes(as *account) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: as.credential()}
}

func pause(p *os.Process) { _ = p.Signal(syscall.SIGSTOP) }

func resume(p *os.Process) { _ = p.Signal(syscall.SIGCONT) }

// killChildren leaves them: those of Postgres end by themselves when it is gone, if not at once.
func killChildren(int) {}
