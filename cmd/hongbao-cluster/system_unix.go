//go:build unix && !linux

package main

import "syscall"

// attributes returns settings of an instance's process. The terminal's Ctrl-C does not reach the instance: this process stops it
// gracefully.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
