package main

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
)

// oneCore pins this process to one core: the n-th, from 0, of those that it may use. Without the program taskset, or
// without such a core, it sets GOMAXPROCS to 1 instead.
func oneCore(ctx context.Context, n int) (undo func()) {
	threads := runtime.GOMAXPROCS(1)
	all := cores(ctx)
	one := all
	for range n {
		one &= one - 1 // drop the lowest bit
	}
	one &= -one // keep the lowest bit only
	useCores(ctx, one)
	return func() {
		useCores(context.WithoutCancel(ctx), all)
		runtime.GOMAXPROCS(threads)
	}
}

// cores returns a bit mask of the cores that this process may use; 0: unknown.
func cores(ctx context.Context) uint64 {
	out, err := exec.CommandContext(ctx, "taskset", "-p", strconv.Itoa(os.Getpid())).Output() //nolint:gosec // our own process id
	if err != nil {
		return 0
	}
	_, mask, _ := strings.Cut(string(out), ": ")
	all, err := strconv.ParseUint(strings.TrimSpace(mask), 16, 64)
	if err != nil {
		return 0
	}
	return all
}

// useCores pins all threads of this process, present and future, to the cores of the mask; 0: no change.
func useCores(ctx context.Context, mask uint64) {
	if mask != 0 {
		_ = exec.CommandContext(ctx, "taskset", "-ap", strconv.FormatUint(mask, 16), strconv.Itoa(os.Getpid())).Run() //nolint:gosec // our own process id
	}
}
