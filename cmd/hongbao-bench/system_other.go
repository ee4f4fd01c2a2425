//go:build !linux

package main

import "syscall"

// attributes are the system's own.
func attributes() *syscall.SysProcAttr { return nil }
