package hub_test

import (
	"flag"
	"fmt"
	"testing"

	"go.uber.org/goleak"

	"hongbao/hub"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(eachPoller{m}) }

// eachPoller runs all tests once with each poller: the best one of the operating system, and the portable one.
// Benchmarks and fuzz tests run with the best one only.
type eachPoller struct{ tests *testing.M }

func (p eachPoller) Run() (code int) {
	flag.Parse()
	pollers := hub.Pollers()
	for _, name := range []string{"test.bench", "test.fuzz", "test.list"} {
		if flag.Lookup(name).Value.String() != "" {
			pollers = pollers[:1]
		}
	}
	for _, poller := range pollers {
		hub.UsePoller(poller)
		if testing.Verbose() {
			fmt.Printf("=== POLLER %T\n", poller())
		}
		if code = p.tests.Run(); code != 0 {
			fmt.Printf("failed with the poller %T\n", poller())
			return code
		}
	}
	return code
}
