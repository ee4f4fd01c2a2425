package sqlitestore

import (
	"database/sql"
	"testing"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/enginetest"
	"hongbao/store/storetest"
	"hongbao/store/tables"
)

func TestSecrets(t *testing.T) {
	storetest.TestSecrets(t, func(t *testing.T) storetest.SecretsUnderTest {
		dir := migratedFolder(t)
		return storetest.SecretsUnderTest{
			Open:  func(t testing.TB) storetest.SecretStore { return openStore(t, dir) },
			Exec:  chainsUnderTestIn(dir).Exec,
			Cells: func(t testing.TB) [][]byte { return cells(t, openStore(t, dir)) },
		}
	})
}

// TestBooksWithDataKey sends, settles and ends packets with encrypted rows, and audits them.
func TestBooksWithDataKey(t *testing.T) {
	s := openEncrypted(t)
	storetest.Live(t, s, s)
	if a, err := s.Audit(t.Context(), nil); err != nil || len(a.Differences) > 0 {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestLedgerWithDataKey runs the suite of ledgers with encrypted rows.
func TestLedgerWithDataKey(t *testing.T) {
	enginetest.Nightly(t, "suites")
	storetest.TestLedger(t, func(t *testing.T) (redpacket.Ledger, chat.Store) {
		s := openEncrypted(t)
		return s, s
	})
}

func TestAuditWithDataKey(t *testing.T) {
	enginetest.Nightly(t, "suites")
	storetest.TestAudit(t, func(t *testing.T) storetest.AuditUnderTest { return startTampering(t, openEncrypted(t)) })
}

func TestTamperingsWithDataKey(t *testing.T) {
	enginetest.Nightly(t, "suites")
	storetest.TestTamperings(t, func(t *testing.T) storetest.AuditUnderTest { return startTampering(t, openEncrypted(t)) })
}

func TestOtherProgramWithDataKey(t *testing.T) {
	enginetest.Nightly(t, "suites")
	keys := storetest.DataKeys(t, 1)
	storetest.TestOtherProgram(t, func(t *testing.T) storetest.ChainsUnderTest {
		dir := migratedFolder(t)
		u := chainsUnderTestIn(dir)
		u.Open = func(t *testing.T) storetest.ChainedStore {
			s := openStore(t, dir)
			s.UseKeys(keys)
			return s
		}
		return u
	})
}

func openEncrypted(t *testing.T) *Store {
	t.Helper()
	s := openStore(t, migratedFolder(t))
	s.UseKeys(storetest.DataKeys(t, 1))
	return s
}

// cells returns all values of all tables.
func cells(t testing.TB, s *Store) (all [][]byte) {
	t.Helper()
	r := s.reader(t.Context())
	names, err := tables.List(r, tables.ScanText, `select name from sqlite_schema where type = 'table' order by 1`)
	noError(t, err)
	for _, table := range names {
		if _, err := tables.List(r, func(rs tables.Row) (struct{}, error) {
			columns, err := rs.(*sql.Rows).Columns()
			if err != nil {
				return struct{}{}, err
			}
			values, into := make([]sql.RawBytes, len(columns)), make([]any, len(columns))
			for i := range values {
				into[i] = &values[i]
			}
			err = rs.Scan(into...)
			for _, v := range values {
				all = append(all, append([]byte(nil), v...))
			}
			return struct{}{}, err
		}, `select * from `+table); err != nil {
			t.Fatal(err)
		}
	}
	return all
}
