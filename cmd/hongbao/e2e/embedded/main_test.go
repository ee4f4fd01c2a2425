// Package embedded tests one server with its embedded database: packets and grabs of clients with the unchanged SDK, and bytes
// on the socket that no library would send.
package embedded

import (
	"os"
	"testing"

	"hongbao/cmd/hongbao/e2e"
)

func TestMain(m *testing.M) { os.Exit(e2e.Main(m)) }
