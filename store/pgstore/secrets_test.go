package pgstore

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/enginetest"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/storetest"
)

func TestSecrets(t *testing.T) {
	storetest.TestSecrets(t, func(t *testing.T) storetest.SecretsUnderTest {
		t.Parallel()
		url := migratedDatabase(t)
		conn := connect(t, url)
		return storetest.SecretsUnderTest{
			Open:  func(t testing.TB) storetest.SecretStore { return openStore(t, url) },
			Exec:  func(t testing.TB, statement string) { must(t, pg.Simple(t.Context(), conn, statement)) },
			Cells: func(t testing.TB) [][]byte { return cells(t, conn) },
		}
	})
}

// TestBooksWithDataKey sends, settles and ends packets with encrypted rows, and audits them.
func TestBooksWithDataKey(t *testing.T) {
	t.Parallel()
	s := openEncrypted(t)
	storetest.Live(t, s, s)
	wantBalanced(t, s)
}

// TestBooksThroughPgBouncer does the same through PgBouncer, where another session may run each transaction.
func TestBooksThroughPgBouncer(t *testing.T) {
	t.Parallel()
	s := openStore(t, bouncer(t)(migratedDatabase(t)))
	storetest.Live(t, s, s)
	wantBalanced(t, s)
}

// TestLedgerWithDataKey runs the suite of ledgers with encrypted rows.
func TestLedgerWithDataKey(t *testing.T) {
	enginetest.Nightly(t, "suites")
	storetest.TestLedger(t, func(t *testing.T) (redpacket.Ledger, chat.Store) {
		t.Parallel()
		s := openEncrypted(t)
		return s, s
	})
}

func TestAuditWithDataKey(t *testing.T) {
	enginetest.Nightly(t, "suites")
	t.Parallel()
	storetest.TestAudit(t, func(t *testing.T) storetest.AuditUnderTest { return startTampering(t, openEncrypted(t)) })
}

func openEncrypted(t *testing.T) *Store {
	t.Helper()
	s := openStore(t, migratedDatabase(t))
	s.UseKeys(storetest.DataKeys(t, 1))
	return s
}

// cells returns all values of all tables: bytes as they are, everything else as Postgres prints it.
func cells(t testing.TB, conn *pgx.Conn) (all [][]byte) {
	t.Helper()
	collect := func(query string) [][]byte {
		rs, err := conn.Query(t.Context(), query)
		must(t, err)
		found, err := pgx.CollectRows(rs, pgx.RowTo[[]byte])
		must(t, err)
		return found
	}
	for _, column := range collect(`select format('select %1$s from %2$I where %3$I is not null',
			case data_type when 'bytea' then format('%I', column_name) else format('convert_to(%I::text, ''UTF8'')', column_name) end,
			table_name, column_name)::bytea
		from information_schema.columns where table_schema = 'public' order by table_name, ordinal_position`) {
		all = append(all, collect(string(column)+` order by 1`)...)
	}
	return all
}
