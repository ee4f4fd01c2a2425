//go:build !linux

package main

import "syscall"

// attributes returns nil: only Linux has them.
func attributes() *syscall.SysProcAttr { return nil }
