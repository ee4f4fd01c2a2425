package redisstore

import (
	"log/slog"
	"os"
	"testing"

	"github.com/redis/go-redis/v9"

	"hongbao/store/storetest"
)

func TestMain(m *testing.M) {
	redis.SetLogger(driverLog{slog.New(slog.DiscardHandler)}) // servers die here all the time
	os.Exit(storetest.Main(m))
}
