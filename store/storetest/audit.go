package storetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
)

// AuditUnderTest is a Ledger, with functions that tamper with its data.
type AuditUnderTest struct {
	Ledger redpacket.Ledger
	Rooms  chat.Store
	// Tamper runs one or more statements in a transaction that is never committed. It returns what an audit inside that
	// transaction finds. changed is false if the last statement changed no row, or a unique key refused the change. Then
	// there is no audit. The schema's checks are off, because a person with access to the database could drop them.
	Tamper func(t *testing.T, statement string, q redpacket.AuditQuery) (found []redpacket.Difference, changed bool)
	// Forge does the same as Tamper with the heads as anchors. Before the audit, it computes the hashes of all links again
	// (Relink).
	Forge func(t *testing.T, statement string, heads ...redpacket.Head) (found []redpacket.Difference, changed bool)
	// Texts runs a query with one column of text and returns the texts.
	Texts func(query string) []string
	Words AuditWords
	Brief bool // change each column in one row only, and try fewer random changes, always the same: make test does this, make nightly tries all

	since []redpacket.Head // AuditQuery.Since of the audits of mustFind; nil: they audit all rows
}

// AuditWords holds SQL fragments that differ between the databases.
type AuditWords struct {
	Bytes       func(n int) string // n bytes of zero
	Many        string             // a very large count
	Unmarked    string             // the mark of a claim that is not the luckiest
	Winners     []string           // wrong lists, of a wave of any number of participants
	Shares      []string           // wrong lists: a share changed, a share missing, no shares, no list of numbers, two shares swapped
	To          string             // recipients: only u1
	NoBody      string             // an entry's body that is not a JSON object
	OtherTotal  string             // body with another total
	OtherSeed   string             // body with another seed
	OtherMarked string             // the negation of luckiest
}

// TestAudit changes the stored data in many ways, one at a time. It changes the columns that moneyColumns lists, removes
// rows, adds rows, and makes gaps in numbers. The audit must report each of these changes, and nothing in unchanged
// data. The tests anchors and newer also make changes that only an audit with saved heads, or of all rows, must report.
func TestAudit(t *testing.T, open func(t *testing.T) AuditUnderTest) {
	u := open(t)
	Live(t, u.Ledger, u.Rooms)
	saved := u.appendLast(t)
	if a, err := u.Ledger.Audit(t.Context(), nil); err != nil || len(a.Differences) > 0 {
		t.Fatalf("the untouched books: %+v, %v", a, err)
	}
	if got := u.Texts(`select actor || ' ' || request_id || ' ' || reason from transfers where key = 'adjust-1'`); !slices.Equal(got, []string{"ops request-adjust-1 test"}) {
		t.Errorf("the credit has the actor, request and reason %q", got)
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
	t.Run("anchors", func(t *testing.T) { u.anchors(t, saved) })
	t.Run("luckiest", func(t *testing.T) { u.luckiest(t) })
	t.Run("copied packet", func(t *testing.T) { u.copiedPacket(t) })
	t.Run("quarantine", func(t *testing.T) { u.quarantine(t) })
	t.Run("overdue", func(t *testing.T) { u.overdue(t) })
	t.Run("while writing", func(t *testing.T) { u.whileWriting(t) })
	t.Run("newer rows", func(t *testing.T) { u.newer(t) })
	t.Run("a full wallet", func(t *testing.T) { u.fullWallet(t) })
	t.Run("a participant left out", func(t *testing.T) {
		found, changed := u.Forge(t, `delete from participants where packet_id = 'drawn' and user_id not in (select user_id from claims where packet_id = 'drawn');
			update packets set participants = 3 where id = 'drawn'`)
		if !changed || !slices.ContainsFunc(found, func(d redpacket.Difference) bool { return d.ID == "drawn" && strings.Contains(d.What, "root") }) {
			t.Errorf("changed %t, and the audit finds %+v", changed, found)
		}
	})
	t.Run("a user that wins too often", func(t *testing.T) { u.wonTooOften(t) })
	for id, moved := range map[string]string{
		"early": `update transfers set at = at - 20000 where packet_id = 'early' and kind = 'claim'; update claims set at = at - 20000 where packet_id = 'early'`,
		"drawn": `update participants set at = 5 where packet_id = 'drawn' and user_id = 'u4'`,
	} {
		t.Run("too early, "+id, func(t *testing.T) {
			found, changed := u.Forge(t, moved)
			if !changed || !slices.ContainsFunc(found, func(d redpacket.Difference) bool { return d.ID == id && strings.Contains(d.What, "before it opened") }) {
				t.Errorf("changed %t, and the audit finds %+v", changed, found)
			}
		})
	}
	t.Run("a held share stolen", func(t *testing.T) {
		found, changed := u.Forge(t, `update transfers set at = at - 3600000 where packet_id = 'holding' and kind = 'claim' and user_id = 'u7';
			update claims set at = at - 3600000 where packet_id = 'holding' and user_id = 'u7'`)
		if !changed || !slices.ContainsFunc(found, func(d redpacket.Difference) bool {
			return d.ID == "holding" && strings.Contains(d.What, "held for another user when u7")
		}) {
			t.Errorf("changed %t, and the audit finds %+v", changed, found)
		}
	})
	t.Run("other shares held", func(t *testing.T) {
		found, changed := u.Forge(t, `update packets set held = replace(replace(replace(held, '",', '",1'), '",10', '",0'), '",11', '",2') where id = 'holding'`)
		if !changed || !slices.ContainsFunc(found, func(d redpacket.Difference) bool {
			return d.ID == "holding" && strings.Contains(d.What, "shares that are held")
		}) {
			t.Errorf("changed %t, and the audit finds %+v", changed, found)
		}
	})
	t.Run("wrong winners", func(t *testing.T) { u.wrongWinners(t) }) // the last one: it spoils the books
}

// wrongWinners ends draws as a server would that forgets its winner, or pays another participant. All rows fit each other and their chains.
func (u AuditUnderTest) wrongWinners(t *testing.T) {
	t.Helper()
	l := &Life{TB: t, Ledger: u.Ledger, Rooms: u.Rooms, At: lived}
	for id, want := range map[string]string{"unpaid": "was not paid", "swapped": "share 0 was paid to the participant that is drawn at place 1"} {
		p := l.sendDraw(id, 1, redpacket.RestRefund)
		l.enter(p, "u4", "u5")
		d, err := u.Ledger.Draw(t.Context(), redpacket.DrawRequest{Ref: p.Ref, Why: redpacket.CloseEarly})
		l.Must(err)
		grants := d.Winners()
		grants[0].User = map[string]string{"u4": "u5", "u5": "u4"}[grants[0].User]
		if id == "unpaid" {
			grants = nil
		}
		_, err = u.Ledger.End(t.Context(), redpacket.Close{Ref: p.Ref, Reason: redpacket.Expired, Grants: grants, At: lived.Add(time.Minute), EntryID: "done-" + id})
		l.Must(err)
		a, err := u.Ledger.Audit(t.Context(), nil)
		if err != nil || !slices.ContainsFunc(a.Differences, func(d redpacket.Difference) bool { return d.ID == id && strings.Contains(d.What, want) }) {
			t.Errorf("%s: the audit finds %+v, %v", id, a.Differences, err)
		}
	}
}

// wonTooOften forges a rain in which each user may win once. Its third wave has passed over the winner of the second one. After the forgery,
// that wave has chosen the same user.
func (u AuditUnderTest) wonTooOften(t *testing.T) {
	t.Helper()
	l := &Life{TB: t, Ledger: u.Ledger, Rooms: u.Rooms, At: lived}
	var p redpacket.Packet
	for id := "twice"; ; id += "-again" { // it is tried again if the machine was too slow
		p = l.sendRain(id, 1, 3300*time.Millisecond)
		if entered := l.enter(p, "u4"); entered.Wave == 2 && l.enterLastWave(p, "u4", "u5") {
			break
		}
		l.endDraw(p, redpacket.CloseEarly)
	}
	l.endDraw(p, redpacket.CloseEarly)
	if a, err := u.Ledger.Audit(t.Context(), nil); err != nil || len(a.Differences) > 0 {
		t.Fatalf("before: %+v, %v", a.Differences, err)
	}
	const claim = ` where packet_id = '%[1]s' and share_no = 1`
	found, changed := u.Forge(t, fmt.Sprintf(`update claims set user_id = 'u4'`+claim+`;
		update transfers set user_id = 'u4', credit = 'user:u4'`+claim+`;
		update wallets set balance = balance + (select amount from claims`+claim+`) where user_id = 'u4';
		update wallets set balance = balance - (select amount from claims`+claim+`) where user_id = 'u5';
		update rain_waves set winners = (select winners from rain_waves where packet_id = '%[1]s' and wave = 2) where packet_id = '%[1]s' and wave = 3`, p.ID))
	if !changed || !slices.ContainsFunc(found, func(d redpacket.Difference) bool {
		return d.ID == p.ID && strings.Contains(d.What, "the winners of wave 3 are not")
	}) {
		t.Errorf("changed %t, and the audit finds %+v", changed, found)
	}
}

// fullWallet credits a user as much as possible, and then the user wins a share. The wallet stays within the bound,
// and the audit finds no difference.
func (u AuditUnderTest) fullWallet(t *testing.T) {
	l := &Life{TB: t, Ledger: u.Ledger, Rooms: u.Rooms, At: lived}
	before, err := u.Ledger.Audit(t.Context(), nil)
	l.Must(err)
	left := redpacket.MaxMoney - before.Funded
	full := redpacket.Adjustment{ID: "full", User: "u9", Amount: left, Key: "full", Hash: []byte("full"), At: lived}
	acc, _, err := u.Ledger.Adjust(t.Context(), full)
	l.Must(err)
	p := l.Send("u1", "on-top", redpacket.Equal, "", 100, 1)
	got := u.Ledger.Settle(t.Context(), []redpacket.Claim{{Ref: p.Ref, User: "u9", At: lived}})
	if want := acc.Balance + 100; got[0].Verdict != redpacket.PaidNow || got[0].Account.Balance != want || want > redpacket.MaxMoney {
		t.Errorf("the winner has %+v, want %d", got[0].Account, want)
	}
	if a, err := u.Ledger.Audit(t.Context(), nil); err != nil || len(a.Differences) > 0 {
		t.Errorf("the books: %+v, %v", a.Differences, err)
	}
}

// appendLast appends a text to room-2, as the newest entry of all rooms. It returns the heads before and after the text.
func (u AuditUnderTest) appendLast(t *testing.T) [2][]redpacket.Head {
	t.Helper()
	heads := func() []redpacket.Head {
		all, err := u.Ledger.Heads(t.Context())
		if err != nil || len(all) == 0 {
			t.Fatalf("heads: %v, %v", all, err)
		}
		return all
	}
	before := heads()
	l := &Life{TB: t, Ledger: u.Ledger, Rooms: u.Rooms, At: lived}
	_, _, err := u.Rooms.Append(t.Context(), chat.Draft{ID: "last", Room: "room-2", From: chat.User{ID: "u2"}, Kind: chat.KindText,
		Key: "last", Hash: []byte("last"), Body: json.RawMessage(`{"text":"last"}`), At: lived})
	l.Must(err)
	return [2][]redpacket.Head{before, heads()}
}

// anchors removes the newest text with its link and its request, and corrects the room's counters. An audit with heads
// that were saved after the text must find that. An audit with earlier heads, or without heads, must find nothing.
func (u AuditUnderTest) anchors(t *testing.T, saved [2][]redpacket.Head) {
	const removed = `delete from requests where key = 'last'; delete from links where id = (select link from entries where id = 'last');
		delete from entries where id = 'last'; update rooms set last_seq = last_seq - 1, content_no = content_no - 1 where id = 'room-2'`
	for i, want := range []int{0, 0, 1} {
		var heads []redpacket.Head
		if i > 0 {
			heads = saved[i-1]
		}
		found, changed := u.Tamper(t, removed, redpacket.AuditQuery{Heads: heads})
		if !changed || len(found) != want {
			t.Errorf("with %d saved heads: found %v, want %d differences", len(heads), found, want)
		}
	}
	if found, _ := u.Tamper(t, `update users set name = 'Other' where id = 'u1'`, redpacket.AuditQuery{Heads: slices.Concat(saved[0], saved[1])}); len(found) > 0 {
		t.Errorf("untouched chains: %v", found)
	}
}

// luckiest changes or adds the luckiest claim in packet_done entries, one at a time. The audit must report the packet, and
// not only a broken chain. Reason: rows that a version without chains wrote were added to a chain later, and that chain does
// not show a change from before.
func (u AuditUnderTest) luckiest(t *testing.T) {
	for id, changes := range map[string][]string{
		"done-drained": {`replace(body, '"luckiest"', '"other"')`, `replace(body, '"user":"', '"user":"u')`, `replace(body, '"amount":', '"amount":1')`, `replace(body, '"rank":', '"rank":1')`},
		"done-even":    {`replace(body, '"state":{', '"state":{"luckiest":{"user":"u1","amount":34,"rank":1},')`},
	} {
		for _, change := range changes {
			statement := fmt.Sprintf(`update entries set body = %s where id = '%s' and body <> %[1]s`, change, id)
			found, changed := u.Tamper(t, statement, redpacket.AuditQuery{})
			if !changed || !slices.ContainsFunc(found, func(d redpacket.Difference) bool { return d.Kind == "packet" && "done-"+d.ID == id }) {
				t.Errorf("after %s (changed: %v), found %v", statement, changed, found)
			}
		}
	}
}

// copiedPacket adds a copy of a packet. The audit must report the copy and not the entry, which is about the genuine packet.
func (u AuditUnderTest) copiedPacket(t *testing.T) {
	statement := `insert into packets (` + copied + `, id, key) select ` + copied + `, 'copy', 'copy' from packets where id = 'open'`
	found, changed := u.Tamper(t, statement, redpacket.AuditQuery{})
	about := func(kind, id string) bool {
		return slices.ContainsFunc(found, func(d redpacket.Difference) bool { return d.Kind == kind && d.ID == id })
	}
	if !changed || !about("packet", "copy") || about("room", "room-1") {
		t.Errorf("found %v (changed: %v), want the copy and not the room", found, changed)
	}
}

// overdue audits at times around the deadline of the two packets that are open.
func (u AuditUnderTest) overdue(t *testing.T) {
	deadline := lived.Add(time.Hour)
	for now, want := range map[time.Time]int{
		{}: 0, deadline: 0, deadline.Add(redpacket.MaxOverdue): 0, deadline.Add(redpacket.MaxOverdue + time.Millisecond): 2, deadline.AddDate(1, 0, 0): 2,
	} {
		a, err := u.Ledger.Audit(t.Context(), &redpacket.AuditQuery{Now: now})
		if err != nil || len(a.Differences) != want {
			t.Errorf("at %v: %+v, %v, want %d overdue packets", now, a.Differences, err, want)
		}
	}
}

// mustFind makes the change and fails the test if the audit does not report the change. It returns false if Tamper has
// changed nothing.
func (u AuditUnderTest) mustFind(t *testing.T, statement string) bool {
	t.Helper()
	found, changed := u.Tamper(t, statement, redpacket.AuditQuery{Since: u.since})
	if changed && len(found) == 0 {
		t.Errorf("not found: %s", statement)
	}
	return changed
}

// columns sets each column of moneyColumns to each of its wrong values, in each row that rows selects, one at a time. With
// Brief, it changes only one row for each value. The audit must report every change.
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

// removed removes each row that rows selects, one at a time. The audit must report each removal.
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

// rows returns SQL conditions, each of which selects one row of the table. It leaves out rows that the audit cannot prove
// anything about: empty wallets, and stored requests that made no entry. Of the entries and the links it selects only some.
func (u AuditUnderTest) rows(t *testing.T, table string) []string {
	t.Helper()
	all := u.Texts(map[string]string{
		"wallets":      `select 'user_id = ''' || user_id || '''' from wallets where balance > 0`,
		"packets":      `select 'id = ''' || id || '''' from packets`,
		"claims":       `select 'packet_id = ''' || packet_id || ''' and share_no = ' || share_no from claims`,
		"participants": `select 'packet_id = ''' || packet_id || ''' and user_id = ''' || user_id || '''' from participants`,
		"rain_waves":   `select 'packet_id = ''' || packet_id || ''' and wave = ' || wave from rain_waves`,
		"transfers":    `select 'id = ''' || id || '''' from transfers`,
		"entries": `select 'room_id = ''' || room_id || ''' and seq = ' || seq from entries where room_id = 'room-2'
			or seq in (select min(seq) from entries where room_id = 'room-1' group by kind, body like '%recalled%')`,
		"requests": `select 'user_id = ''' || user_id || ''' and key = ''' || key || '''' from requests where seq <> 0`,
		"links":    `select 'id = ' || id from links where id in (select max(id) from links group by leaves union select min(id) from links)`,
		"chains":   `select 'id = ' || id from chains`,
	}[table])
	if len(all) == 0 {
		t.Fatalf("there are no %s", table)
	}
	return all
}

// whileWriting audits again and again while packets are sent, claimed and closed. No audit may report a difference.
func (u AuditUnderTest) whileWriting(t *testing.T) {
	t.Helper()
	stop := make(chan struct{})
	var audits sync.WaitGroup
	audits.Go(func() {
		for {
			var lines strings.Builder
			a, err := u.Ledger.Audit(t.Context(), &redpacket.AuditQuery{Show: func(l redpacket.AuditLine) { fmt.Fprintln(&lines, l) }})
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
