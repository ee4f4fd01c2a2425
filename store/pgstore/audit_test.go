package pgstore

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"hongbao/redpacket"
	"hongbao/store/audit"
	"hongbao/store/enginetest"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/pgstore/internal/schema"
	"hongbao/store/storetest"
)

func TestAudit(t *testing.T) {
	t.Parallel()
	storetest.TestAudit(t, func(t *testing.T) storetest.AuditUnderTest {
		return startTampering(t, openStore(t, migratedDatabase(t)))
	})
}

// TestErasedAudit erases users of a store in clear, and of one that encrypts passphrases.
func TestErasedAudit(t *testing.T) {
	for name, open := range map[string]func(*testing.T) *Store{"clear": func(t *testing.T) *Store { return openStore(t, migratedDatabase(t)) }, "encrypted": openEncrypted} {
		t.Run(name, func(t *testing.T) {
			storetest.TestErasedAudit(t, func(t *testing.T) storetest.AuditUnderTest { return startTampering(t, open(t)) })
		})
	}
}

func TestRetiredAudit(t *testing.T) {
	storetest.TestRetiredAudit(t, func(t *testing.T) storetest.AuditUnderTest {
		return startTampering(t, openStore(t, migratedDatabase(t)))
	})
}

func BenchmarkAudit(b *testing.B) {
	database := migratedDatabase(b)
	s := openStore(b, database)
	storetest.BenchmarkAudit(b, s, s, func() { must(b, pg.Simple(b.Context(), connect(b, database), "analyze")) })
}

// TestTamperings changes, adds, removes and moves random rows and computes all hashes again.
func TestTamperings(t *testing.T) {
	t.Parallel()
	storetest.TestTamperings(t, func(t *testing.T) storetest.AuditUnderTest {
		return startTampering(t, openStore(t, migratedDatabase(t)))
	})
}

// startTampering lets a test change the data in a transaction that is never committed, and audits inside it.
func startTampering(t *testing.T, s *Store) storetest.AuditUnderTest {
	t.Helper()
	config := s.pool.ConnConfig().Copy()
	config.DefaultQueryExecMode = pgx.QueryExecModeCacheStatement // it plans the many statements of the audit only once
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pg.CloseConn(conn) })
	if err := pg.Simple(t.Context(), conn, dropChecks+`; set session_replication_role = replica`); err != nil { // without triggers
		t.Fatal(err)
	}
	return storetest.AuditUnderTest{
		Ledger: s, Rooms: s, Brief: enginetest.RaceDetector() || !enginetest.Tonight("suites"), Words: auditWords,
		Tamper: func(t *testing.T, statement string, q redpacket.AuditQuery) ([]redpacket.Difference, bool) {
			return tamper(t, conn, statement, q, false)
		},
		Forge: func(t *testing.T, statement string, heads ...redpacket.Head) ([]redpacket.Difference, bool) {
			return tamper(t, conn, statement, redpacket.AuditQuery{Heads: heads}, true)
		},
		Texts: func(query string) []string {
			rs, err := conn.Query(t.Context(), query)
			if err != nil {
				t.Fatalf("%s: %v", query, err)
			}
			all, err := pgx.CollectRows(rs, pgx.RowTo[string])
			if err != nil {
				t.Fatalf("%s: %v", query, err)
			}
			return all
		},
	}
}

const dropChecks = `do $$ declare c record; begin
	for c in select conrelid::regclass as of, conname from pg_constraint where contype = 'c' and connamespace = 'public'::regnamespace loop
		execute format('alter table %s drop constraint %I', c.of, c.conname);
	end loop; end $$`

var auditWords = storetest.AuditWords{
	Bytes: func(n int) string { return fmt.Sprintf("decode(repeat('00', %d), 'hex')", n) },
	Many:  "2147483647",
	Shares: []string{
		"shares[1] + 1 || shares[2:]", "shares[2:]", "'{}'", "'{{1,2},{3,4}}'", "'{null}'",
		"shares[cardinality(shares)] || shares[2:cardinality(shares) - 1] || shares[1]",
	},
	Winners:  []string{`winners || '{u9}'::text[]`},
	To:       `'{u1}'`,
	Unmarked: "false", OtherMarked: "not luckiest",
	NoBody:     "'no JSON'",
	OtherTotal: `regexp_replace(body, '"total":\d+', '"total":5')`,
	OtherSeed:  `regexp_replace(body, '"seed":"\w+"', '"seed":"other"')`,
}

func tamper(t *testing.T, conn *pgx.Conn, statement string, q redpacket.AuditQuery, relink bool) (found []redpacket.Difference, changed bool) {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	must(pg.Simple(t.Context(), conn, "begin"))
	defer func() { must(pg.Simple(t.Context(), conn, "rollback")) }()
	done, err := conn.PgConn().Exec(t.Context(), statement).ReadAll()
	if pg.SQLState(err) == "23505" { // a unique key
		return nil, false
	}
	must(err)
	if done[len(done)-1].CommandTag.RowsAffected() == 0 {
		return nil, false
	}
	r := schema.Snapshot{Reader: pg.Reader{Ctx: t.Context(), Conn: conn, Citus: *citus}}
	if relink {
		links, rows := audit.Chained(r, schema.AuditDialect)
		must(pg.Simple(t.Context(), conn, storetest.Relink(t, bytea, links, rows)))
	}
	a, err := audit.Run(r, schema.AuditDialect, &q)
	must(err)
	return a.Differences, true
}
