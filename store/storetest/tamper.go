package storetest

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hongbao/redpacket"
	"hongbao/store/chain"
)

// consistentForgeries returns changes by a tamperer that knows the audit: every sum, counter and request fits. Such a
// tamperer also computes every hash again (see Relink), so that only anchors show the change.
func consistentForgeries(w AuditWords) []string {
	seals := w.Bytes(16) + ", " + w.Bytes(16)
	addText := func(room string) string {
		return fmt.Sprintf(`insert into entries (room_id, seq, id, at, sender, sender_name, kind, body, content_no, link, name_seal, text_seal)
			select id, last_seq + 1, 'forged', 5, 'u1', 'Name', 'text', '{"text":"forged"}', content_no + 1, (select max(link) from entries), %s
				from rooms where id = '%s';
			update rooms set last_seq = last_seq + 1, content_no = content_no + 1 where id = '%[2]s'`, seals, room)
	}
	adjust := func(kind, debit, credit string, change int) string {
		return fmt.Sprintf(`insert into transfers (id, at, debit, credit, amount, kind, user_id, key, hash, link)
				values ('forged', 1, '%s', '%s', 5, '%s', 'u1', 'forged', %s, (select max(link) from transfers));
			update circulation set amount = amount + %d; update wallets set balance = balance + %[5]d where user_id = 'u1'`,
			debit, credit, kind, w.Bytes(32), change)
	}
	return []string{
		addText("room-1"), addText("room-2"),
		adjust("credit", "outside", "user:u1", 5), adjust("debit", "user:u1", "outside", -5),
		// A credit goes to another user, or its amount changes.
		`update transfers set user_id = 'u2', credit = 'user:u2' where id = 'adjust-0';
			update wallets set balance = balance - 100000 where user_id = 'u1'; update wallets set balance = balance + 100000 where user_id = 'u2'`,
		`update transfers set amount = amount - 1 where id = 'adjust-0'; update circulation set amount = amount - 1;
			update wallets set balance = balance - 1 where user_id = 'u1'`,
		`update transfers set at = at - 5 where kind = 'debit'`, `update transfers set note = 'other words' where id = 'adjust-0'`,
		`update transfers set actor = 'somebody', reason = 'other words' where id = 'adjust-1'`,
		// A win goes to another user.
		`insert into wallets (user_id, balance) select 'u9', amount from claims where packet_id = 'open' and share_no = 0;
			update wallets set balance = balance - (select amount from claims where packet_id = 'open' and share_no = 0) where user_id = 'u0';
			update transfers set user_id = 'u9', credit = 'user:u9' where packet_id = 'open' and share_no = 0 and kind = 'claim';
			update claims set user_id = 'u9' where packet_id = 'open' and share_no = 0`,
		`update claims set at = at + 1 where packet_id = 'drained'; update transfers set at = at + 1 where packet_id = 'drained' and kind = 'claim'`,
		`update claims set transfer = 'forged' where packet_id = 'open' and share_no = 1;
			update transfers set id = 'forged' where packet_id = 'open' and share_no = 1 and kind = 'claim'`,
		// Texts, names, ids, times and keys.
		`update entries set body = '{"text":"other"}' where id = 'last'`, `update entries set at = at - 1 where kind = 'text'`,
		`update entries set sender_name = 'Other' where kind = 'packet'; update packets set sender_name = 'Other'`,
		`update entries set sender_avatar = 'other.png' where sender = 'u2'`, `update packets set sender_avatar = 'other.png' where id = 'even'`,
		`update entries set id = 'other' where kind = 'recall'`, `update packets set partition = partition + 1 where id = 'open'`,
		`update requests set hash = ` + w.Bytes(32) + ` where key = 'last'`,
		`update entries set key = 'other' where id = 'last'; update requests set key = 'other' where key = 'last'`,
		`update entries set key = '' where id = 'last'; delete from requests where key = 'last'`,
		// The newest text of a room is removed, or moved to another room.
		`delete from entries where id = 'last'; delete from requests where key = 'last';
			update rooms set last_seq = last_seq - 1, content_no = content_no - 1 where id = 'room-2'`,
		`update requests set room_id = 'room-1', seq = (select last_seq + 1 from rooms where id = 'room-1') where key = 'last';
			update entries set room_id = 'room-1', seq = (select last_seq + 1 from rooms where id = 'room-1'),
				content_no = (select content_no + 1 from rooms where id = 'room-1') where id = 'last';
			update rooms set last_seq = last_seq + 1, content_no = content_no + 1 where id = 'room-1';
			update rooms set last_seq = last_seq - 1, content_no = content_no - 1 where id = 'room-2'`,
	}
}

// outOfScope returns changes that an audit does not find, not even with anchors. These changes affect no money, text or packet:
//
//   - A stored request without an entry only serves to recognise a repeated request, such as to create a room.
//   - The id of a transfer of a send or refund only orders transfers of the same millisecond. Everything else in the row must
//     fit the packet.
func outOfScope(w AuditWords) []string {
	return []string{
		`update requests set hash = ` + w.Bytes(32) + ` where seq = 0`, `delete from requests where seq = 0`,
		`update transfers set id = 'other' || id where kind in ('send', 'refund')`,
	}
}

// TestTamperings changes the data like a tamperer: after each change it computes the hashes of all links again. The audit
// must find consistentForgeries with the heads that were saved before, and only with them. It must find none of outOfScope.
// Then the test makes random changes from tamperings, and the audit must find each with the saved heads.
func TestTamperings(t *testing.T, open func(t *testing.T) AuditUnderTest) {
	u := open(t)
	Live(t, u.Ledger, u.Rooms)
	saved := u.appendLast(t)[1]
	for _, statement := range consistentForgeries(u.Words) {
		if found, changed := u.Forge(t, statement); !changed || len(found) > 0 {
			t.Errorf("without anchors, found %v after %s", found, statement)
		}
		if found, _ := u.Forge(t, statement, saved...); len(found) == 0 {
			t.Errorf("not found: %s", statement)
		}
	}
	for _, statement := range outOfScope(u.Words) {
		if found, changed := u.Forge(t, statement, saved...); !changed || len(found) > 0 {
			t.Errorf("it is in scope: changed %t, found %v after %s", changed, found, statement)
		}
	}
	seed := uint64(1)
	if !u.Brief {
		seed = rand.Uint64()
	}
	t.Logf("seed %d", seed)
	all, random := u.tamperings(t), rand.New(rand.NewPCG(seed, 0))
	want := 200
	if u.Brief {
		want = 20
	}
	for done := 0; done < want; {
		statement := all[random.IntN(len(all))]
		found, changed := u.Forge(t, statement, saved...)
		if changed {
			done++
		}
		if changed && len(found) == 0 {
			t.Errorf("not found: %s", statement)
		}
	}
}

// tamperings lists statements that change one column of one row, remove a row, or forge several rows.
func (u AuditUnderTest) tamperings(t *testing.T) []string {
	t.Helper()
	all := slices.Concat(consistentForgeries(u.Words), forgeries(u.Words))
	for table, columns := range moneyColumns(u.Words) {
		for _, row := range u.rows(t, table) {
			all = append(all, fmt.Sprintf(`delete from %s where %s`, table, row))
			for column, values := range columns {
				if table == "links" && slices.Contains([]string{"prev", "leaves", "hash"}, column) {
					continue // computing the links again undoes the change
				}
				for _, value := range values {
					all = append(all, fmt.Sprintf(`update %s set %s = %s where %s and %[2]s is distinct from (%[3]s)`, table, column, value, row))
				}
			}
		}
	}
	slices.Sort(all) // a fixed order, so that the seed determines the choices
	return all
}

// Relink computes all links again from the rows as they are, as a tamperer would. It returns the SQL statements that store
// these links. hex returns the SQL for bytes.
func Relink(t *testing.T, hex func([]byte) string, links iter.Seq2[chain.StoredLink, error], tables []chain.Rows) string {
	t.Helper()
	leaves := map[int64][]chain.Hash{}
	for _, rows := range tables {
		for row, err := range rows.All {
			noError(t, err)
			leaves[row.Link] = append(leaves[row.Link], row.Leaf)
		}
	}
	var statements []string
	heads := map[int64]redpacket.Head{}
	for l, err := range links {
		noError(t, err)
		head := heads[l.Chain()]
		rows := leaves[l.ID]
		if len(rows) == 0 && head.Link != 0 { // all its rows were removed
			statements = append(statements, fmt.Sprintf(`delete from links where id = %d`, l.ID))
			continue
		}
		next := chain.Link{ID: l.ID, Prev: head.Link, At: l.At, Leaves: int64(len(rows)), Digest: chain.Digest(rows)}
		hash := next.Hash(head.Hash)
		heads[l.Chain()] = redpacket.Head{Link: l.ID, Hash: hash}
		statements = append(statements, fmt.Sprintf(`update links set prev = %d, leaves = %d, hash = %s where id = %d`, next.Prev, next.Leaves, hex(hash[:]), l.ID))
	}
	return strings.Join(statements, "; ")
}
