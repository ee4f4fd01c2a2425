// Package sdk plays every scenario of a client's life with each SDK that we support, unchanged: centrifuge-go, and centrifuge
// from npm on a page in Chromium, both in JSON and in Protobuf.
package sdk

import (
	"os"
	"testing"

	"hongbao/cmd/hongbao/e2e"
)

func TestMain(m *testing.M) { os.Exit(e2e.Main(m)) }
