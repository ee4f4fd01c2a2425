package storetest

import (
	"encoding/json"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/enginetest"
)

// TestErasedAudit erases users that have sent packets and texts, that have entered a draw, and that have a locked packet which is open. All audits
// must find nothing before and after. A text or a name that was removed without an erasure, or with another hash, must still be found.
func TestErasedAudit(t *testing.T, open func(t *testing.T) AuditUnderTest) {
	u := open(t)
	Live(t, u.Ledger, u.Rooms)
	l := &Life{TB: t, Ledger: u.Ledger, Rooms: u.Rooms, At: lived}
	locked := l.send(redpacket.Packet{Ref: redpacket.Ref{ID: "locked"}, From: chat.User{ID: "u1", Name: "Name"}, Mode: redpacket.Equal,
		Total: 100, Count: 2, ExpiresAt: l.At.Add(time.Hour), Passphrase: "medlar"})
	heads, err := u.Ledger.Heads(t.Context())
	l.Must(err)
	clean := func(q *redpacket.AuditQuery) {
		t.Helper()
		if a, err := u.Ledger.Audit(t.Context(), q); err != nil || len(a.Differences) > 0 {
			t.Fatalf("the audit finds %+v, %v", a.Differences, err)
		}
	}
	clean(nil)
	e := &eraser{TB: t, store: u.Rooms, at: lived}
	e.erase("u2", true)
	e.erase("u3", false)
	clean(nil)

	// u4 has entered a draw, and wins after the erasure: the money comes into the wallet, as ever.
	e.erase("u4", true)
	before, err := u.Ledger.Account(t.Context(), "u4")
	l.Must(err)
	p, err := u.Ledger.Packet(t.Context(), "entered")
	l.Must(err)
	l.endDraw(p, redpacket.CloseEarly)
	after, err := u.Ledger.Account(t.Context(), "u4")
	if l.Must(err); after.Balance <= before.Balance {
		t.Errorf("u4 had %d before the draw, and has %d", before.Balance, after.Balance)
	}
	clean(nil)

	// The locked packet of u1 keeps its passphrase while it is open, so it can be grabbed, and nothing else.
	_, err = u.Rooms.BeginErasure(t.Context(), chat.NewErasure{User: "u1", Texts: true, At: e.at})
	l.Must(err)
	e.steps("u1")
	if now, err := u.Rooms.Erasure(t.Context(), "u1"); err != nil || now.Waits != chat.WaitsForPackets {
		t.Errorf("with a locked packet: %+v, %v", now, err)
	}
	b, err := u.Ledger.Book(t.Context(), "locked")
	if l.Must(err); b.Packet.Passphrase != "medlar" || b.Packet.Greeting != "" || b.Packet.From != (chat.User{ID: "u1"}) {
		t.Errorf("the locked packet is %+v", b.Packet)
	}
	clean(nil)
	l.Claim(locked, 1)
	l.End(locked, redpacket.Expired)
	e.steps("u1")
	if now, err := u.Rooms.Erasure(t.Context(), "u1"); err != nil || now.DoneAt.IsZero() {
		t.Errorf("at last: %+v, %v", now, err)
	}
	if b, err = u.Ledger.Book(t.Context(), "locked"); err != nil || b.Packet.Passphrase != "" {
		t.Errorf("the locked packet at last: %+v, %v", b.Packet, err)
	}
	clean(nil)
	clean(&redpacket.AuditQuery{Heads: heads})
	clean(&redpacket.AuditQuery{Heads: heads, Since: heads})
	for _, query := range []string{`select body from entries`, `select sender_name from entries`, `select sender_name || greeting || passphrase from packets`} {
		for _, text := range u.Texts(query) {
			for _, word := range []string{"hello", "edited", "恭喜", "medlar"} {
				if strings.Contains(text, word) {
					t.Errorf("%s has %s", query, text)
				}
			}
		}
	}

	// Entries of u5 are not erased. Those of u2 are.
	l.Must(func() error {
		_, _, err := u.Rooms.Join(t.Context(), chat.Joining{Room: "room-2", User: "u5", At: lived, MaxRooms: 9, MaxMembers: 99})
		return err
	}())
	for _, key := range []string{"kept", "last"} {
		_, _, err = u.Rooms.Append(t.Context(), chat.Draft{ID: key, Room: "room-2", From: chat.User{ID: "u5", Name: "Name"}, Kind: chat.KindText,
			Key: key, Hash: []byte(key), Body: json.RawMessage(`{"text":"kept"}`), At: lived})
		l.Must(err)
	}
	w := u.Words
	for _, forged := range []string{
		// A name and a text that nobody has asked to erase, with any hash.
		`update entries set sender_name = '', name_seal = ` + w.Bytes(32) + ` where id = 'kept'`,
		`update entries set body = '{"recalled":true}', text_seal = ` + w.Bytes(32) + ` where id = 'kept'`,
		// The hash of an erased name, text or packet is another one.
		`update entries set name_seal = ` + w.Bytes(32) + ` where id = 'e-room-1'`,
		`update entries set text_seal = ` + w.Bytes(32) + ` where id = 'e-room-1'`,
		`update packets set name_seal = ` + w.Bytes(32) + ` where id = 'drained'`,
		`update packets set text_seal = ` + w.Bytes(32) + ` where id = 'locked'`,
		// Words come back after the erasure.
		`update entries set sender_name = 'Name' where id = 'e-room-1'`, `update entries set body = '{"text":"back"}' where id = 'e-room-1'`,
		`update packets set greeting = 'back' where id = 'drained'`, `update packets set passphrase = 'back' where id = 'locked'`,
		`update packets set sender_name = 'Name' where id = 'cancelled'`, `update users set name = 'Name' where id = 'u2'`,
		`update users set suspended_at = 0 where id = 'u2'`, `update users set erased_at = 0 where id = 'u2'`,
		// The erasure that explains what is missing is gone, or asks for less.
		`delete from erasures where user_id = 'u3'`, `delete from erasures where user_id = 'u1'`,
	} {
		if !u.mustFind(t, forged) {
			t.Errorf("changes nothing: %s", forged)
		}
	}
	// The erasure of another user explains nothing.
	if found, changed := u.Forge(t, `update entries set sender_name = '', name_seal = `+w.Bytes(32)+` where id = 'kept'`); !changed ||
		!slices.ContainsFunc(found, func(d redpacket.Difference) bool { return strings.Contains(d.What, "nobody has asked") }) {
		t.Errorf("a name cut out without an erasure, with all hashes computed again: %t, %+v", changed, found)
	}
}

// TestOtherProgramAfterErasure verifies chains of erased and retired rows by a program in Python that shares no code with hongbao, with heads that were kept before.
func TestOtherProgramAfterErasure(t *testing.T, open func(t *testing.T) ChainsUnderTest) {
	enginetest.Need(t, "python3")
	u := open(t)
	s := u.Open(t)
	Live(t, s, s)
	heads, err := s.Heads(t.Context())
	noError(t, err)
	saved := saveHeads(t, heads)
	want := func(right bool) {
		t.Helper()
		//nolint:gosec // the test makes all arguments
		out, err := exec.CommandContext(t.Context(), "python3", "../chain/verify.py", u.Name, saved).CombinedOutput()
		if status := new(exec.ExitError); err != nil && !errors.As(err, &status) || (err == nil) != right {
			t.Errorf("the other program: %v, %s", err, out)
		}
	}
	want(true)
	e := &eraser{TB: t, store: s, at: lived}
	e.erase("u1", true)
	e.erase("u3", false)
	want(true)
	if retire(t, s, chat.KeptDays{Public: 7, Private: 7, Direct: 7}, lived.AddDate(0, 0, 30)) == 0 {
		t.Error("no text is retired")
	}
	want(true)
	e.erase("u2", true)
	want(true)
	u.Exec(t, `update entries set name_seal = text_seal where id = 'e-room-1'`)
	want(false)
}
