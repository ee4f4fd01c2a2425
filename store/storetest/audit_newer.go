package storetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
)

// newer audits the rows that were added after an earlier audit. The audit must find each change that newerRows makes, and
// nothing in unchanged data. It must also find that an older row was added or removed, or that an older amount or link
// was changed. Only an audit of all rows finds a changed text in an older row.
func (u AuditUnderTest) newer(t *testing.T) {
	audit := func(q redpacket.AuditQuery) redpacket.Audit {
		t.Helper()
		a, err := u.Ledger.Audit(t.Context(), &q)
		if err != nil || len(a.Differences) > 0 {
			t.Fatalf("unchanged: %+v, %v", a.Differences, err)
		}
		return a
	}
	first := audit(redpacket.AuditQuery{}).Heads
	if again := audit(redpacket.AuditQuery{Since: first}).Heads; !slices.Equal(again, first) {
		t.Errorf("without newer rows, the audit ends at %v, want %v", again, first)
	}
	u.liveOn(t)
	u.since = first
	heads, err := u.Ledger.Heads(t.Context())
	a := audit(redpacket.AuditQuery{Since: first, Heads: first})
	if err != nil || !slices.Equal(a.Heads, heads) || slices.Equal(heads, first) {
		t.Errorf("the audit ends at %v, want %v, %v", a.Heads, heads, err)
	}
	if want := audit(redpacket.AuditQuery{}); fmt.Sprint(a) != fmt.Sprint(want) {
		t.Errorf("the audit of newer rows returns %+v, a whole one %+v", a, want)
	}
	u.newerRows(t)
	u.olderRows(t)
	for _, wrong := range []func(h *redpacket.Head){func(h *redpacket.Head) { h.Hash[0]++ }, func(h *redpacket.Head) { h.Link-- }} {
		for _, anchor := range []bool{false, true} {
			heads := slices.Clone(first)
			wrong(&heads[0])
			q := redpacket.AuditQuery{Since: heads}
			if anchor {
				q = redpacket.AuditQuery{Since: first, Heads: heads}
			}
			if a, err := u.Ledger.Audit(t.Context(), &q); err != nil || len(a.Differences) == 0 {
				t.Errorf("since another head (anchor: %v): %+v, %v", anchor, a.Differences, err)
			}
		}
	}
}

// liveOn adds packets, claims, ends of packets, a credit, a text and reactions. One claim and one end belong to an older
// packet, and one reaction belongs to an older text.
func (u AuditUnderTest) liveOn(t *testing.T) {
	t.Helper()
	l := &Life{TB: t, Ledger: u.Ledger, Rooms: u.Rooms, At: lived}
	open := redpacket.Packet{Ref: redpacket.Ref{ID: "open"}}
	got := u.Ledger.Settle(t.Context(), []redpacket.Claim{{Ref: open.Ref, Share: 2, User: "u2", At: lived}})
	if got[0].Verdict != redpacket.PaidNow {
		t.Fatalf("a claim of the older packet: %+v", got)
	}
	l.End(open, redpacket.Expired)
	p := l.Send("u1", "newer", redpacket.Lucky, redpacket.Calm, 500, 4)
	l.Claim(p, 2)
	l.End(p, redpacket.Cancelled)
	l.Claim(l.Send("u1", "newer-open", redpacket.Lucky, redpacket.Calm, 500, 4), 2)
	_, _, err := u.Ledger.Adjust(t.Context(), redpacket.Adjustment{ID: "newer", User: "u2", Amount: 70, Key: "newer", Hash: []byte("newer"), At: lived})
	l.Must(err)
	e, _, err := u.Rooms.Append(t.Context(), chat.Draft{ID: "newer-text", Room: "room-1", From: chat.User{ID: "u2"}, Kind: chat.KindText,
		Key: "newer-text", Hash: []byte("newer"), Body: json.RawMessage(`{"text":"hello"}`), At: lived})
	l.Must(err)
	amend := func(a chat.Amendment) {
		a.Room, a.At, a.Window = "room-1", lived, time.Hour
		_, err := u.Rooms.Amend(t.Context(), a)
		l.Must(err)
	}
	for i, target := range []int64{1, e.Seq} {
		amend(chat.Amendment{Kind: chat.KindReact, Target: target, By: chat.User{ID: "u3"}, Emoji: "🎉", On: true, ID: fmt.Sprint("newer-", i)})
	}
	amend(chat.Amendment{Kind: chat.KindEdit, Target: 1, By: chat.User{ID: "u2"}, Text: "edited later", ID: "newer-edit"})
}

// newerRows changes and removes the rows that liveOn has added, and wallets, one at a time. It also changes the end of the
// older packet that liveOn has closed.
func (u AuditUnderTest) newerRows(t *testing.T) {
	const ofPackets = `packet_id in ('newer', 'newer-open') or packet_id = 'open' and share_no = 2`
	all := moneyColumns(u.Words)
	for table, rows := range map[string]string{
		"packets": `id like 'newer%'`, "claims": ofPackets, "transfers": `id = 'newer' or kind = 'claim' and (` + ofPackets + `)`,
		"entries": `id like '%newer%'`, "requests": `key like 'newer%' and seq <> 0`, "wallets": `balance > 0`,
		"links": `id in (select link from entries where id like '%newer%' union select link from claims where ` + ofPackets + `)`,
	} {
		keys := map[string]string{"packets": "id", "claims": "packet_id || share_no", "transfers": "id", "entries": "id", "requests": "key",
			"wallets": "user_id", "links": "cast(id as text)"}
		for i, row := range u.Texts(fmt.Sprintf(`select %s from %s where %s order by 1`, keys[table], table, rows)) {
			where := fmt.Sprintf(`%s = '%s'`, keys[table], row)
			if !u.mustFind(t, fmt.Sprintf(`delete from %s where %s`, table, where)) {
				t.Errorf("%s has no row with %s", table, where)
			}
			if u.Brief && i > 0 {
				continue
			}
			for column, values := range all[table] {
				u.column(t, table, column, values[0], []string{where})
			}
		}
	}
	for _, column := range []string{"status", "closed_at", "refunded", "claimed", "done_seq", "shares", "seed", "total"} {
		u.column(t, "packets", column, all["packets"][column][0], []string{`id = 'open'`}) // this packet is older, but its end is newer
	}
	u.mustFind(t, `delete from reactions where emoji = '🎉' and seq = 1`)
	u.mustFind(t, `update entries set fold = replace(fold, 'edited later', 'edited')`)
}

// olderRows changes and removes rows that the earlier audit has seen. It also adds rows without a link, which look as old.
func (u AuditUnderTest) olderRows(t *testing.T) {
	const changed = `update entries set body = '{"text":"other"}' where id = 'last'`
	if found, _ := u.Tamper(t, changed, redpacket.AuditQuery{Since: u.since}); len(found) > 0 {
		t.Errorf("after %s, the audit of newer rows finds %v; operate.md says that it does not", changed, found)
	}
	if found, _ := u.Tamper(t, changed, redpacket.AuditQuery{}); len(found) == 0 {
		t.Errorf("a whole audit does not find %s", changed)
	}
	for _, statement := range []string{
		`delete from claims where packet_id = 'drained' and share_no = 1`, `delete from entries where id = 'e-room-2'`, `delete from packets where id = 'even'`,
		`delete from requests where key = 'last'`, `delete from transfers where packet_id = 'even' and kind = 'send'`,
		`update claims set amount = amount + 1 where packet_id = 'drained' and share_no = 1`, `update packets set total = total + 1 where id = 'even'`,
		`update wallets set balance = balance + 1 where user_id = 'u1'`, `update entries set link = 0 where id = 'last'`,
	} {
		if !u.mustFind(t, statement) {
			t.Errorf("changes nothing: %s", statement)
		}
	}
	for _, statement := range forgeries(u.Words) {
		if strings.HasPrefix(statement, "insert into") && !strings.Contains(statement, ";") && !strings.Contains(statement, "reactions") {
			u.mustFind(t, statement) // adds one row
		}
	}
}

// quarantine puts a claim into quarantine. The audit must list the claim as a note, and report no difference.
func (u AuditUnderTest) quarantine(t *testing.T) {
	claim := redpacket.Claim{Ref: redpacket.Ref{ID: "open"}, Share: 5, User: "nobody", At: lived}
	noError(t, u.Ledger.Quarantine(t.Context(), []redpacket.Claim{claim}, "it is poisoned"))
	a, err := u.Ledger.Audit(t.Context(), nil)
	want := []redpacket.Difference{{Kind: "packet", ID: "open", What: "share 5 of nobody is in quarantine since 2023-11-14T22:13:20Z: it is poisoned"}}
	if err != nil || len(a.Differences) > 0 || !slices.Equal(a.Notes, want) {
		t.Errorf("audit: %+v, %+v, %v, want the note %+v", a.Differences, a.Notes, err, want)
	}
}
