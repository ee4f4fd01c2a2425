//go:build !unix

package loopback

import (
	"os"
	"syscall"
)

// attributes returns nil: on this system the package does not make a child die with this process.
func attributes(*account) *syscall.SysProcAttr { return nil }

func pause(*os.Process) {}

func resume(*os.Process) {}

func killChildren(int) {}

func pauseChildren(int) {}

func resumeChildren(int) {}
