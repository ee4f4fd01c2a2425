package sqlitestore

import (
	"testing"

	"hongbao/store/storetest"
)

func TestSecurity(t *testing.T) {
	storetest.TestSecurity(t, func(t *testing.T) storetest.SecurityUnderTest {
		s := openStore(t, migratedFolder(t))
		return storetest.SecurityUnderTest{Store: s, Exec: func(statement string) error { return execute(t, s, statement) }}
	})
}
