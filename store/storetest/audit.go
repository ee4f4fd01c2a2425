package storetest

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"hongbao/chat"
	"hongbao/redpacket"
)

// AuditUnderTest is a Ledger with the handles of one who tampers with its books.
type AuditUnderTest struct {
	Ledger redpacket.Ledger
	Rooms  chat.Store
	// Tamper runs a statement in a transaction that is never committed, and gives what the audit finds inside of it;
	// changed is false when it changed no row, or a unique key refuses it. The schema's checks are put aside: whoever
	// tampers can do that too.
	Tamper func(t *testing.T, statement string) (found []redpacket.Difference, changed bool)
	// Texts runs a query for one column of text.
	Texts func(query string) []string
	Words AuditWords
	Brief bool // change one row where every row could be: the race detector makes all of it ten times slower
}

// AuditWords are the engine's own for what its SQL has no common word for.
type AuditWords struct {
	Bytes       func(n int) string // n bytes of zero
	Many        string             // the largest count that the column takes
	Unmarked    string             // a claim that is not the luckiest
	Shares      []string           // others than the packet's: changed, fewer, none, no list, two of them swapped
	To          string             // recipients: u1 alone
	NoBody      string             // what takes the place of an entry's body as no object of JSON
	OtherTotal  string             // body with another total
	OtherSeed   string             // body with another seed
	OtherMarked string             // the contrary of luckiest
}

// TestAudit changes the books by hand in every way that matters, each alone: every money column of every row,
// every row removed, rows added, numbers with holes. Each must be reported, and the untouched books not.
func TestAudit(t *testing.T, open func(t *testing.T) AuditUnderTest) {
	u := open(t)
	Live(t, u.Ledger, u.Rooms)
	if a, err := u.Ledger.Audit(t.Context(), nil); err != nil || len(a.Differences) > 0 {
		t.Fatalf("the untouched books: %+v, %v", a, err)
	}
	t.Run("columns", func(t *testing.T) { u.columns(t) })
	t.Run("rows removed", func(t *testing.T) { u.removed(t) })
	t.Run("by hand", func(t *testing.T) {
		for _, forged := range forgeries(u.Words) {
			if !u.mustFind(t, forged) {
				t.Errorf("changes nothing: %s", forged)
			}
		}
	})
	t.Run("while writing", func(t *testing.T) { u.whileWriting(t) })
	t.Run("a full wallet", func(t *testing.T) { u.fullWallet(t) })
}

// fullWallet: who has been credited all that can be still wins, and the books are right.
func (u AuditUnderTest) fullWallet(t *testing.T) {
	l := &Life{TB: t, Ledger: u.Ledger, Rooms: u.Rooms, At: lived}
	_, _, err := u.Ledger.Adjust(t.Context(), redpacket.Adjustment{ID: "full", User: "u9", Amount: 1<<53 - 1, Key: "full", Hash: []byte("full"), At: lived})
	l.Must(err)
	p := l.Send("u1", "on-top", redpacket.Equal, "", 100, 1)
	got, err := u.Ledger.Settle(t.Context(), []redpacket.Claim{{Ref: p.Ref, User: "u9", At: lived}})
	l.Must(err)
	if want := redpacket.Money(1<<53 - 1 + 100); got[0].Verdict != redpacket.PaidNow || got[0].Account.Balance != want {
		t.Errorf("the winner has %+v, want %d", got[0].Account, want)
	}
	if a, err := u.Ledger.Audit(t.Context(), nil); err != nil || len(a.Differences) > 0 {
		t.Errorf("the books: %+v, %v", a.Differences, err)
	}
}

// mustFind tells whether there was anything to find.
func (u AuditUnderTest) mustFind(t *testing.T, statement string) bool {
	t.Helper()
	found, changed := u.Tamper(t, statement)
	if changed && len(found) == 0 {
		t.Errorf("not found: %s", statement)
	}
	return changed
}

// columns changes every money column in every row of the tables.
func (u AuditUnderTest) columns(t *testing.T) {
	t.Helper()
	for table, columns := range moneyColumns(u.Words) {
		rows := u.rows(t, table)
		for column, values := range columns {
			for _, value := range values {
				if !u.column(t, table, column, value, rows) {
					t.Errorf("%s.%s = %s changes no row", table, column, value)
				}
			}
		}
	}
}

func (u AuditUnderTest) column(t *testing.T, table, column, value string, rows []string) (changed bool) {
	t.Helper()
	for _, row := range rows {
		if u.mustFind(t, fmt.Sprintf(`update %s set %s = %s where %s and %[2]s is distinct from (%[3]s)`, table, column, value, row)) {
			changed = true
		}
		if u.Brief && changed {
			break
		}
	}
	return changed
}

// removed removes every row of the tables of money, wallets only if there is money in them.
func (u AuditUnderTest) removed(t *testing.T) {
	t.Helper()
	for table := range moneyColumns(u.Words) {
		for _, row := range u.rows(t, table) {
			if !u.mustFind(t, fmt.Sprintf(`delete from %s where %s`, table, row)) {
				t.Errorf("%s has no row with %s", table, row)
			}
		}
	}
}

// rows gives a condition for each row of the table.
func (u AuditUnderTest) rows(t *testing.T, table string) []string {
	t.Helper()
	all := u.Texts(map[string]string{
		"wallets":   `select 'user_id = ''' || user_id || '''' from wallets where balance > 0`,
		"packets":   `select 'id = ''' || id || '''' from packets`,
		"claims":    `select 'packet_id = ''' || packet_id || ''' and share_no = ' || share_no from claims`,
		"transfers": `select 'id = ''' || id || '''' from transfers`,
	}[table])
	if len(all) == 0 {
		t.Fatalf("there are no %s", table)
	}
	return all
}

// whileWriting wants every snapshot to balance while packets are sent, claimed and ended.
func (u AuditUnderTest) whileWriting(t *testing.T) {
	t.Helper()
	stop := make(chan struct{})
	var audits sync.WaitGroup
	audits.Go(func() {
		for {
			var lines strings.Builder
			a, err := u.Ledger.Audit(t.Context(), func(l redpacket.AuditLine) { fmt.Fprintln(&lines, l) })
			if err != nil || len(a.Differences) > 0 || strings.Count(lines.String(), "\n") != a.Packets {
				t.Errorf("audit: %+v, %v, of\n%s", a, err, &lines)
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
	l := &Life{TB: t, Ledger: u.Ledger, Rooms: u.Rooms, At: lived}
	for i := range 30 {
		p := l.Send("u1", fmt.Sprintf("w-%d", i), redpacket.Lucky, redpacket.Calm, 300, 6)
		l.Claim(p, 4)
		l.End(p, redpacket.Expired)
	}
}
