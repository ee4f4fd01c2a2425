package main

import "syscall"

// attributes make an instance die with us, and keep the terminal's Ctrl-C from it: we tell it when to stop.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
