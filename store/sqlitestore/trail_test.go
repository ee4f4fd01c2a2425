package sqlitestore

import (
	"testing"

	"hongbao/store/storetest"
	"hongbao/store/trail"
)

func TestTrail(t *testing.T) {
	storetest.TestTrail(t, func(t *testing.T) trail.Store { return openStore(t, migratedFolder(t)) })
}
