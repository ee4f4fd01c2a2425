package main

import "syscall"

// attributes returns settings of an instance's process. The system kills the instance when this process dies. The terminal's Ctrl-C
// does not reach the instance: this process stops it gracefully.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
