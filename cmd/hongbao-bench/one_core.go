package main

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
)

// oneCore has this process use one core: number n, from 0, of those that it may use. Where there is no `taskset`, or no such
// core, it is some one at a time.
func oneCore(ctx context.Context, n int) (undo func()) {
	threads := runtime.GOMAXPROCS(1)
	all := cores(ctx)
	one := all
	for range n {
		one &= one - 1 // without the first
	}
	one &= -one // nothing but the first
	useCores(ctx, one)
	return func() {
		useCores(context.WithoutCancel(ctx), all)
		runtime.GOMAXPROCS(threads)
	}
}

// cores are those that this process may use, a bit for each; 0: unknown.
func cores(ctx context.Context) uint64 {
	out, err := exec.CommandContext(ctx, "taskset", "-p", strconv.Itoa(os.Getpid())).Output() //nolint:gosec // our own number
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

// useCores has all threads of this process use them, and those to come, too; 0: as they do.
func useCores(ctx context.Context, mask uint64) {
	if mask != 0 {
		_ = exec.CommandContext(ctx, "taskset", "-ap", strconv.FormatUint(mask, 16), strconv.Itoa(os.Getpid())).Run() //nolint:gosec // our own number
	}
}
