// Package scaled tests three servers over one Redis and one Postgres: what reaches clients of other servers and how fast, and
// what clients notice while Redis, Postgres, a connection, a row or a server fails.
package scaled

import (
	"os"
	"testing"

	"hongbao/cmd/hongbao/e2e"
)

func TestMain(m *testing.M) { os.Exit(e2e.Main(m)) }
