package redisstore

import (
	"flag"
	"log/slog"
	"os"
	"testing"

	"github.com/redis/go-redis/v9"

	"hongbao/store/storetest"
)

// parallelTests is how many parallel tests run at a time, unless -parallel says otherwise. The default is the number
// of processors, but most of these tests wait for timeouts, leases and failovers.
const parallelTests = "8"

func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", parallelTests) // it exists, and is a number
	}
	redis.SetLogger(driverLog{slog.New(slog.DiscardHandler)}) // discards the driver's log, because tests kill servers all the time
	os.Exit(storetest.Main(m))
}
