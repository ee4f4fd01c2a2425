// Package browser tests the page in Chromium, as its users see it: what they click and type, what is shown, and what the server
// holds afterwards.
package browser

import (
	"os"
	"testing"

	"hongbao/cmd/hongbao/e2e"
)

func TestMain(m *testing.M) { os.Exit(e2e.Main(m)) }
