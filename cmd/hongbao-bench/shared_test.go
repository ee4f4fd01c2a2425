package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
)

// shared holds the servers and programs that several tests use. Each is made at its first use, and cleaned up after the last
// test.
var shared = &testbed{}

var sharedBinary = sync.OnceValues(func() (string, error) { return shared.buildHongbao(context.Background(), "") })

var sharedInstallation = sync.OnceValues(func() (*installation, error) {
	binary, err := sharedBinary()
	if err != nil {
		return nil, err
	}
	return shared.install(context.Background(), installed{binary: binary, embedded: true, instances: 1})
})

// builtHongbao returns the path of the program that tests start.
func builtHongbao(t *testing.T) string {
	t.Helper()
	binary, err := sharedBinary()
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

// smallInstallation is one embedded process. Several tests use it: each load has users and rooms of its own.
func smallInstallation(t *testing.T) *installation {
	t.Helper()
	in, err := sharedInstallation()
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// cleanedUp runs the tests and then the cleanup of shared.
type cleanedUp struct{ *testing.M }

// Run implements goleak.TestingM.
func (c cleanedUp) Run() int {
	code := c.M.Run()
	for _, clean := range slices.Backward(shared.cleanup) {
		if err := clean(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	return code
}
