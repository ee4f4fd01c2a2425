// Package crash kills servers and engines in the midst of work. Clients note what they were told; afterwards all of that must be
// stored, the money must add up, and nothing may be stuck.
package crash

import (
	"os"
	"testing"

	"hongbao/cmd/hongbao/e2e"
)

func TestMain(m *testing.M) { os.Exit(e2e.Main(m)) }
