package main

import "syscall"

// attributes make the system kill an instance when this process dies. They also keep the terminal's Ctrl-C from the
// instance: this process stops it gracefully.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
