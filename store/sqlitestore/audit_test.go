package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"hongbao/redpacket"
)

// TestAudit changes the books by hand in every way that matters, each alone: every money column of every row,
// every row removed, rows added, numbers with holes. Each must be reported, and the untouched books not.
func TestAudit(t *testing.T) {
	s := openLedger(t, t.TempDir())
	live(t, s)
	tamper := startTampering(t, s)
	if a, err := s.Audit(t.Context(), nil); err != nil || len(a.Differences) > 0 {
		t.Fatalf("the untouched books: %+v, %v", a, err)
	}
	t.Run("columns", func(t *testing.T) { tamper.on(t).columns() })
	t.Run("rows removed", func(t *testing.T) { tamper.on(t).removed() })
	t.Run("by hand", func(t *testing.T) {
		for _, forged := range forgeries {
			if !tamper.on(t).mustFind(forged) {
				t.Errorf("changes nothing: %s", forged)
			}
		}
	})
}

// TestAuditOfAnotherProcess tampers with a copy of the file and audits that, as an operator would.
func TestAuditOfAnotherProcess(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	s, err := Open(t.Context(), from, quiet)
	if err != nil {
		t.Fatal(err)
	}
	live(t, s)
	if err := s.Close(); err != nil { // which also folds the log into the file
		t.Fatal(err)
	}
	copyFile(t, filepath.Join(from, "hongbao.db"), filepath.Join(to, "hongbao.db"))
	db, err := sql.Open("sqlite", filepath.Join(to, "hongbao.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), `update wallets set balance = balance + 1 where user_id = 'u1'`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]int{from: 0, to: 2} { // the wallet, and the sum of all
		a, err := openLedger(t, dir).Audit(t.Context(), nil)
		if err != nil || len(a.Differences) != want {
			t.Errorf("audit: %+v, %v, want %d differences", a.Differences, err, want)
		}
	}
}

// TestAuditWhileWriting wants every snapshot to balance while packets are sent, claimed and ended.
func TestAuditWhileWriting(t *testing.T) {
	s := openLedger(t, t.TempDir())
	live(t, s)
	stop := make(chan struct{})
	var audits sync.WaitGroup
	audits.Go(func() {
		for {
			a, err := s.Audit(context.Background(), nil)
			if err != nil || len(a.Differences) > 0 {
				t.Errorf("audit: %+v, %v", a, err)
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	defer audits.Wait()
	defer close(stop)
	l := &liveliness{TB: t, s: s}
	for i := range 30 {
		p := l.send("u1", fmt.Sprintf("w-%d", i), redpacket.Lucky, redpacket.Calm, 300, 6)
		l.claim(p, 4)
		l.end(p, redpacket.Expired)
	}
}

// moneyColumns are all columns of the tables of money but names, ids that nothing hangs on, notes, and keys of
// adjustments, which only their caller knows. Each is changed in every row, by every value that is another one.
var moneyColumns = map[string]map[string][]string{
	"wallets": {"user_id": {"'somebody'"}, "balance": {"balance + 1", "balance - 1", "9223372036854775807"}},
	"packets": {
		"id": {"'another'"}, "room_id": {"'room-2'", "'nowhere'"}, "sender": {"'u9'", "'u2'"},
		"mode": {"'equal'", "'lucky'"}, "spread": {"''", "'calm'", "'classic'", "'wild'"},
		"total": {"total + 1", "total - 1", "9223372036854775807"}, "count": {"count + 1", "count - 1", "1 << 50"},
		"shares": {"json_set(shares, '$[0]', 1 + (shares ->> 0))", "json_remove(shares, '$[0]')", "'[]'", "'no list'",
			"json_set(shares, '$[0]', shares -> '$[#-1]', '$[#-1]', shares -> 0)"}, // two swapped
		"greeting": {"'other words'"}, "recipients": {`'["u1"]'`}, "passphrase": {"'open sesame'"},
		"seed": {"zeroblob(32)", "zeroblob(31)"}, "commitment": {"lower(hex(zeroblob(32)))"}, "key": {"'another'"},
		"seq": {"seq + 1"}, "status": {"'open'", "'drained'", "'expired'", "'cancelled'"},
		"created_at": {"created_at + 1"}, "expires_at": {"expires_at + 1"}, "closed_at": {"closed_at + 1", "null", "5"},
		"refunded": {"refunded + 1", "refunded - 1"}, "claimed": {"claimed + 1"}, "done_seq": {"done_seq + 1", "null", "1"},
	},
	"claims": {
		"packet_id": {"'another'", "'cancelled'"}, "share_no": {"99", "-1", "3"},
		"user_id": {"'somebody'", "'u9'"}, "amount": {"amount + 1", "amount - 1", "9223372036854775807"},
		"at": {"at + 1"}, "luckiest": {"1 - luckiest"},
	},
	"transfers": {
		"debit": {"'outside'", "'user:u9'", "'packet:another'"}, "credit": {"'outside'", "'user:u9'", "'packet:another'"},
		"amount": {"amount + 1", "amount - 1", "9223372036854775807"}, "user_id": {"'u9'", "'somebody'"},
		"kind":      {"'credit'", "'debit'", "'send'", "'claim'", "'refund'"},
		"packet_id": {"'another'", "null", "(select max(id) from packets)"}, "share_no": {"null", "99", "0"},
	},
}

// forgeries are rows added, numbers with holes, and changes of several columns that belong together.
var forgeries = []string{
	`insert into wallets values ('somebody', 5)`,
	`insert into claims (packet_id, share_no, user_id, amount, at) values ('open', 5, 'u9', 10, 1)`,
	`insert into claims (packet_id, share_no, user_id, amount, at) values ('cancelled', 0, 'u9', 10, 1)`,
	`insert into claims (packet_id, share_no, user_id, amount, at) values ('none', 0, 'u9', 10, 1)`,
	`insert into transfers (id, at, debit, credit, amount, kind, user_id, key, hash)
		values ('x', 1, 'outside', 'user:u1', 5, 'credit', 'u1', 'x', x'00')`,
	`insert into transfers (id, at, debit, credit, amount, kind, user_id, packet_id)
		values ('x', 1, 'packet:open', 'user:u1', 5, 'refund', 'u1', 'open')`,
	`insert into transfers (id, at, debit, credit, amount, kind, user_id, packet_id, share_no)
		values ('x', 1, 'packet:open', 'user:u1', 5, 'claim', 'u1', 'open', 5)`,
	`insert into packets select 'copy', partition, room_id, sender, sender_name, sender_avatar, mode, spread, total, count, shares,
		greeting, recipients, passphrase, seed, commitment, 'copy', seq, status, created_at, expires_at, closed_at, refunded,
		claimed, done_seq from packets where id = 'open'`,
	// Opened again without a trace of its end in the tables of money.
	`update packets set status = 'open', closed_at = null, done_seq = null, refunded = 0, claimed = 0 where id = 'drained';
		update claims set luckiest = 0 where packet_id = 'drained'`,
	// Moved from wallet to wallet without a movement: the sum of all is still right.
	`update wallets set balance = balance + 7 where user_id = 'u1'; update wallets set balance = balance - 7 where user_id = 'u2'`,
	`update claims set luckiest = 0 where packet_id = 'drained'`,

	`delete from entries where seq = 2`, `delete from entries where seq = 1`,
	`delete from entries where seq = (select max(seq) from entries where room_id = 'room-1')`,
	`delete from entries where room_id = 'room-2'`,
	`update entries set seq = 1000 where seq = 3`, `update entries set room_id = 'nowhere' where room_id = 'room-2'`,
	`update entries set content_no = content_no + 1 where seq = 3`, `update entries set kind = 'member' where kind = 'text'`,
	`update entries set body = 'no JSON' where kind = 'packet' and seq = 2`,
	`update entries set body = json_set(body, '$.total', 5) where kind = 'packet' and seq = 2`,
	`update entries set body = json_set(body, '$.seed', 'other') where kind = 'packet_done'`,
	`update rooms set last_seq = last_seq + 1`, `update rooms set last_seq = last_seq - 1`, `delete from rooms where id = 'room-2'`,
	`update rooms set content_no = content_no + 1`, `update rooms set members = members + 1`,
	`delete from members where user_id = 'u2'`, `delete from requests where ref = 'open'`,
	`update requests set ref = 'drained' where ref = 'open'`,
}

// tampering changes the books in a transaction that is never committed, and audits inside of it. The schema's
// checks are put aside: whoever tampers can do that too.
type tampering struct {
	*testing.T
	w *writer // not the store's: it prepares the audit's many statements only once
}

func startTampering(t *testing.T, s *Store) *tampering {
	t.Helper()
	conn, err := s.read.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w := &writer{ctx: t.Context(), conn: conn, stmts: map[string]*sql.Stmt{}}
	t.Cleanup(w.reset)
	if _, err := w.exec(`pragma ignore_check_constraints = on`); err != nil {
		t.Fatal(err)
	}
	return &tampering{t, w}
}

func (x *tampering) on(t *testing.T) *tampering { return &tampering{t, x.w} }

// with runs the statement and gives what the audit finds then. When it changed nothing, there is nothing to find.
func (x *tampering) with(statement string) (found []redpacket.Difference, changed bool) {
	x.Helper()
	x.exec(`begin`)
	defer x.exec(`rollback`)
	if n, err := x.exec(statement).RowsAffected(); err != nil || n == 0 {
		return nil, false
	}
	a, err := audit(x.w, func(redpacket.AuditLine) {})
	if err != nil {
		x.Fatalf("after %s: %v", statement, err)
	}
	return a.Differences, true
}

func (x *tampering) exec(statement string) sql.Result {
	x.Helper()
	res, err := x.w.conn.ExecContext(x.Context(), statement)
	if err != nil {
		x.Fatalf("%s: %v", statement, err)
	}
	return res
}

// mustFind tells whether there was anything to find.
func (x *tampering) mustFind(statement string) bool {
	x.Helper()
	found, changed := x.with(statement)
	if changed && len(found) == 0 {
		x.Errorf("not found: %s", statement)
	}
	return changed
}

// columns changes every money column in every row of the tables (in one row of each table when the race detector
// makes all of it ten times slower). What a unique key refuses cannot be done.
func (x *tampering) columns() {
	for table, columns := range moneyColumns {
		rows := x.rows(table)
		for column, values := range columns {
			for _, value := range values {
				changed := 0
				for _, row := range rows {
					if x.mustFind(fmt.Sprintf(`update or ignore %s set %s = %s where %s and %[2]s is not (%[3]s)`, table, column, value, row)) {
						changed++
					}
					if raceDetector && changed > 0 {
						break
					}
				}
				if changed == 0 {
					x.Errorf("%s.%s = %s changes no row", table, column, value)
				}
			}
		}
	}
}

// removed removes every row of the tables of money, wallets only if there is money in them.
func (x *tampering) removed() {
	for table := range moneyColumns {
		for _, row := range x.rows(table) {
			x.mustFind(fmt.Sprintf(`delete from %s where %s`, table, row))
		}
	}
}

// rows gives a condition for each row of the table.
func (x *tampering) rows(table string) []string {
	x.Helper()
	query := map[string]string{
		"wallets":   `select format('user_id = ''%s''', user_id) from wallets where balance > 0`,
		"packets":   `select format('id = ''%s''', id) from packets`,
		"claims":    `select format('packet_id = ''%s'' and share_no = %d', packet_id, share_no) from claims`,
		"transfers": `select format('id = ''%s''', id) from transfers`,
	}[table]
	all, err := rows(x.w, func(rs *sql.Rows) (row string, err error) {
		return row, rs.Scan(&row)
	}, query)
	if err != nil || len(all) == 0 {
		x.Fatalf("rows of %s: %d, %v", table, len(all), err)
	}
	return all
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }() // it was only read
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}
