package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
)

// shared is what several tests use: each thing is made when the first needs it, and cleared away after the last.
var shared = &site{}

var sharedBinary = sync.OnceValues(func() (string, error) { return shared.buildHongbao(context.Background(), "") })

var sharedInstallation = sync.OnceValues(func() (*installation, error) {
	binary, err := sharedBinary()
	if err != nil {
		return nil, err
	}
	return shared.install(context.Background(), installed{binary: binary, embedded: true, instances: 1})
})

// builtHongbao is the program that tests start.
func builtHongbao(t *testing.T) string {
	t.Helper()
	binary, err := sharedBinary()
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

// smallInstallation is one process with everything in it. Others speak to it too: each load has users and rooms of its own.
func smallInstallation(t *testing.T) *installation {
	t.Helper()
	in, err := sharedInstallation()
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// cleared are the tests, and what they have shared is cleared away behind them.
type cleared struct{ *testing.M }

// Run implements goleak.TestingM.
func (c cleared) Run() int {
	code := c.M.Run()
	for _, clean := range slices.Backward(shared.cleanup) {
		if err := clean(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	return code
}
