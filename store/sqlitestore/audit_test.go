package sqlitestore

import (
	"database/sql"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"hongbao/redpacket"
	"hongbao/store/audit"
	"hongbao/store/enginetest"
	"hongbao/store/storetest"
	"hongbao/store/tables"
)

func TestAudit(t *testing.T) {
	storetest.TestAudit(t, func(t *testing.T) storetest.AuditUnderTest {
		return startTampering(t, openStore(t, migratedFolder(t)))
	})
}

// TestErasedAudit erases users of a store in clear, and of one that encrypts passphrases.
func TestErasedAudit(t *testing.T) {
	for name, open := range map[string]func(*testing.T) *Store{"clear": func(t *testing.T) *Store { return openStore(t, migratedFolder(t)) }, "encrypted": openEncrypted} {
		t.Run(name, func(t *testing.T) {
			storetest.TestErasedAudit(t, func(t *testing.T) storetest.AuditUnderTest { return startTampering(t, open(t)) })
		})
	}
}

func TestRetiredAudit(t *testing.T) {
	storetest.TestRetiredAudit(t, func(t *testing.T) storetest.AuditUnderTest { return startTampering(t, openStore(t, migratedFolder(t))) })
}

func BenchmarkAudit(b *testing.B) {
	s := openStore(b, b.TempDir())
	storetest.BenchmarkAudit(b, s, s, func() {}) // SQLite counts nothing by itself
}

// TestTamperings changes, adds, removes and moves random rows and computes all hashes again.
func TestTamperings(t *testing.T) {
	storetest.TestTamperings(t, func(t *testing.T) storetest.AuditUnderTest {
		return startTampering(t, openStore(t, migratedFolder(t)))
	})
}

func blob(b []byte) string { return fmt.Sprintf("x'%x'", b) }

// TestAuditOfAnotherProcess changes a copy of the database file and audits it, as an operator would. The audit must
// report the change.
func TestAuditOfAnotherProcess(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	s, err := Open(t.Context(), from, quiet)
	noError(t, err)
	storetest.Live(t, s, s)
	if err := s.Close(); err != nil { // also merges the write-ahead log into the file
		t.Fatal(err)
	}
	copyFile(t, filepath.Join(from, "hongbao.db"), filepath.Join(to, "hongbao.db"))
	db, err := sql.Open("sqlite", filepath.Join(to, "hongbao.db"))
	noError(t, err)
	if _, err := db.ExecContext(t.Context(), `update wallets set balance = balance + 1 where user_id = 'u1'`); err != nil {
		t.Fatal(err)
	}
	noError(t, db.Close())
	for dir, want := range map[string]int{from: 0, to: 2} { // two differences: the wallet's balance, and the sum of all wallets
		a, err := openStore(t, dir).Audit(t.Context(), nil)
		if err != nil || len(a.Differences) != want {
			t.Errorf("audit: %+v, %v, want %d differences", a.Differences, err, want)
		}
	}
}

// startTampering lets a test change the data in a transaction that is never committed, and audits inside it.
func startTampering(t *testing.T, s *Store) storetest.AuditUnderTest {
	t.Helper()
	conn, err := s.read.Conn(t.Context())
	noError(t, err)
	w := &writer{ctx: t.Context(), conn: conn, stmts: map[string]*sql.Stmt{}} // so that the audit's many statements are prepared only once
	t.Cleanup(w.reset)
	if _, err := w.Exec(`pragma ignore_check_constraints = on`); err != nil {
		t.Fatal(err)
	}
	return storetest.AuditUnderTest{
		Ledger: s, Rooms: s, Brief: enginetest.RaceDetector() || !enginetest.Tonight("suites"), Words: auditWords,
		Tamper: func(t *testing.T, statement string, q redpacket.AuditQuery) ([]redpacket.Difference, bool) {
			return tamper(t, w, statement, q, false)
		},
		Forge: func(t *testing.T, statement string, heads ...redpacket.Head) ([]redpacket.Difference, bool) {
			return tamper(t, w, statement, redpacket.AuditQuery{Heads: heads}, true)
		},
		Texts: func(query string) []string {
			all, err := tables.List(w, func(rs tables.Row) (text string, err error) { return text, rs.Scan(&text) }, query)
			if err != nil {
				t.Fatalf("%s: %v", query, err)
			}
			return all
		},
	}
}

var auditWords = storetest.AuditWords{
	Bytes: func(n int) string { return fmt.Sprintf("zeroblob(%d)", n) },
	Many:  "1 << 50",
	Shares: []string{
		"json_set(shares, '$[0]', 1 + (shares ->> 0))", "json_remove(shares, '$[0]')", "'[]'", "'no list'",
		"json_set(shares, '$[0]', shares -> '$[#-1]', '$[#-1]', shares -> 0)",
	},
	Winners:  []string{"json_insert(winners, '$[#]', 'u9')", "'no list'"},
	To:       `'["u1"]'`,
	Unmarked: "0", OtherMarked: "1 - luckiest",
	NoBody: "'no JSON'", OtherTotal: "json_set(body, '$.total', 5)", OtherSeed: "json_set(body, '$.seed', 'other')",
}

func tamper(t *testing.T, w *writer, statement string, q redpacket.AuditQuery, relink bool) (found []redpacket.Difference, changed bool) {
	t.Helper()
	must := func(statement string) {
		if _, err := w.conn.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	must(`begin`)
	defer must(`rollback`)
	res, err := w.conn.ExecContext(t.Context(), statement)
	if refusedRow(err) != "" {
		return nil, false
	}
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return nil, false
	}
	r := snapshot{reader{ctx: t.Context(), on: w.conn}}
	if relink {
		links, rows := audit.Chained(r, auditDialect)
		must(storetest.Relink(t, blob, links, rows))
	}
	a, err := audit.Run(r, auditDialect, &q)
	if err != nil {
		t.Fatalf("after %s: %v", statement, err)
	}
	return a.Differences, true
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	noError(t, err)
	defer func() { _ = in.Close() }() // the file was only read
	out, err := os.Create(to)
	noError(t, err)
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	noError(t, out.Close())
}
