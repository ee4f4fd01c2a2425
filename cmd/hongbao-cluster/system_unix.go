//go:build unix && !linux

package main

import "syscall"

// attributes keep the terminal's Ctrl-C from an instance: we tell it when to stop.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
