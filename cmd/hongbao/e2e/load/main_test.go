// Package load tests very many sockets: a crowd on three servers that fail, the memory of idle ones, a reconnect storm, and a rain.
package load

import (
	"os"
	"testing"

	"hongbao/cmd/hongbao/e2e"
)

// secret signs the tokens of all users of these tests.
const secret = "a secret of the load tests, of no use elsewhere"

// TestMain lets the test binary also be the generator of idle sockets, in a process of its own.
func TestMain(m *testing.M) {
	if os.Getenv(idleGenerator) != "" {
		os.Exit(generateIdle(os.Stdin, os.Stdout))
	}
	os.Exit(e2e.Main(m))
}
