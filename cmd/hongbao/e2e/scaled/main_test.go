// Package scaled tests three servers over one Redis and one Postgres: what reaches clients of other servers and how fast, and
// what clients notice while Redis, Postgres, a connection, a row or a server fails.
package scaled

import (
	"os"
	"testing"
	"time"

	"hongbao/cmd/hongbao/e2e"
)

func TestMain(m *testing.M) { os.Exit(e2e.Main(m)) }

// mustTake ends the test if something took longer than the limit.
func mustTake(t *testing.T, what string, took, limit time.Duration) {
	t.Helper()
	if took > limit {
		e2e.TooSlow(t, "%s took %v, want at most %v", what, took, limit)
	}
}
