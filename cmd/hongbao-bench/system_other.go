//go:build !linux

package main

import (
	"syscall"
	"time"
)

// attributes returns nil: only Linux can kill a child process when its parent dies.
func attributes() *syscall.SysProcAttr { return nil }

// cpuTime returns 0: the times of other processes are read from /proc.
func cpuTime(...int) time.Duration { return 0 }

// cpuTimeOfThreads returns 0, as cpuTime does.
func cpuTimeOfThreads(int) time.Duration { return 0 }
