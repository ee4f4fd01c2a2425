//go:build unix && !linux

package main

import "syscall"

// attributes keep the terminal's Ctrl-C from an instance: this process stops it in order.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
