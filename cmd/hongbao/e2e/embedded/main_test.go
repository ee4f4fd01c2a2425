// Package embedded tests one server with its embedded database: packets and grabs of clients with the unchanged SDK, and bytes
// on the socket that no library would send.
package embedded

import (
	"flag"
	"os"
	"testing"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/storetest"
)

var onCitus = flag.Bool("citus", false, "play the demonstration on Citus and Redis")

// startServer starts a server with its embedded database, or with -citus on Redis and a Citus cluster.
func startServer(t *testing.T) *e2e.Server {
	if !*onCitus {
		return e2e.Start(t, e2e.Build(t, ""), t.TempDir(), e2e.FreeAddress(t))
	}
	database, err := storetest.SharedCitus(t).NewDatabase(t.Context())
	e2e.NoError(t, err)
	return e2e.Start(t, e2e.Build(t, ""), "", e2e.FreeAddress(t), "HONGBAO_DATABASE_URL="+database, "HONGBAO_REDIS_URL=redis://"+storetest.Redis(t).Addr()+"/0",
		"HONGBAO_GUESTS=local", "HONGBAO_GUEST_KEY="+e2e.GuestKey, "HONGBAO_GUEST_CREDIT=100000")
}

func TestMain(m *testing.M) { os.Exit(e2e.Main(m)) }
