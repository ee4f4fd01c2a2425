package sqlitestore

import (
	"database/sql"
	"path/filepath"
	"testing"

	"hongbao/store/storetest"
)

func chainsUnderTest(t *testing.T) storetest.ChainsUnderTest { return chainsUnderTestIn(t.TempDir()) }

func chainsUnderTestIn(dir string) storetest.ChainsUnderTest {
	return storetest.ChainsUnderTest{
		Name: filepath.Join(dir, FileName),
		Open: func(t *testing.T) storetest.ChainedStore { return openStore(t, dir) },
		Exec: func(t *testing.T, statement string) {
			t.Helper()
			db, err := sql.Open("sqlite", filepath.Join(dir, FileName)+"?_pragma=busy_timeout(5000)")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		},
	}
}

func TestChainRows(t *testing.T) { storetest.TestChainRows(t, `x''`, chainsUnderTest) }

func TestTailLost(t *testing.T) { storetest.TestTailLost(t, errTailLost, chainsUnderTest) }

func TestOtherProgram(t *testing.T) { storetest.TestOtherProgram(t, chainsUnderTest) }

func TestStoresContinueChains(t *testing.T) {
	storetest.TestStoresContinueChains(t, chainsUnderTest)
}
