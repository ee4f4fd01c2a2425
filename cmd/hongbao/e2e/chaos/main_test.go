// Package chaos puts three instances under load, makes one random fault after another, and checks after each fault that nothing
// that was acknowledged is lost, and that the books balance. make chaos runs it for hours.
package chaos

import (
	"flag"
	"os"
	"testing"
	"time"

	"hongbao/cmd/hongbao/e2e"
)

var (
	hours      = flag.Float64("chaos.hours", 0, "cause faults for so many hours (TestChaos)")
	seed       = flag.Uint64("chaos.seed", 0, "begin with the faults of this seed; 0: a random one")
	only       = flag.String("chaos.only", "", "cause only the kinds of faults whose names contain this")
	folder     = flag.String("chaos.out", "", "folder for the logs of a world in which a check failed")
	layoutName = flag.String("chaos.layout", "", "layout of Redis: one, cluster or sentinel; \"\": each in TestEachKindOfFault, one for each world in TestChaos")
	citus      = flag.Bool("chaos.citus", false, "keep the data in a Citus cluster of a coordinator and two workers, instead of a Postgres with two standbys")
)

func TestMain(m *testing.M) { os.Exit(e2e.Main(m)) }

// now returns the time since the process started, in nanoseconds. No step of the machine's clock changes it.
func now() int64 { return int64(time.Since(began)) }

var began = time.Now()

// instantOf converts a time in Unix milliseconds to that of now.
func instantOf(unixMilli int64) int64 {
	return (unixMilli - began.UnixMilli()) * int64(time.Millisecond)
}
