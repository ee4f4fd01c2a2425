//go:build !unix

package main

import "syscall"

// attributes returns nil: there is nothing to set on this system.
func attributes() *syscall.SysProcAttr { return nil }
