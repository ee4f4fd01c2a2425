package storetest

import (
	"strings"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
)

// TestRetiredAudit retires all texts. All audits must find nothing before and after. A text that was removed without the retention, or that is still
// there, must be found.
func TestRetiredAudit(t *testing.T, open func(t *testing.T) AuditUnderTest) {
	u := open(t)
	Live(t, u.Ledger, u.Rooms)
	heads, err := u.Ledger.Heads(t.Context())
	noError(t, err)
	days := chat.KeptDays{Public: 7, Private: 7, Direct: 7}
	if n := retire(t, u.Rooms, days, lived.AddDate(0, 0, 30)); n == 0 {
		t.Fatal("no text is retired")
	}
	e := &eraser{TB: t, store: u.Rooms, at: lived}
	e.erase("u1", true)
	for _, q := range []*redpacket.AuditQuery{nil, {Heads: heads}, {Heads: heads, Since: heads}} {
		if a, err := u.Ledger.Audit(t.Context(), q); err != nil || len(a.Differences) > 0 {
			t.Fatalf("the audit finds %+v, %v", a.Differences, err)
		}
	}
	for _, body := range u.Texts(`select body from entries where kind in ('text', 'edit')`) {
		if strings.Contains(body, "hello") || strings.Contains(body, "edited") {
			t.Errorf("a text reads %s", body)
		}
	}
	noError(t, func() error {
		_, _, err := u.Rooms.Append(t.Context(), chat.Draft{ID: "kept", Room: "room-2", From: chat.User{ID: "u2", Name: "Name"}, Kind: chat.KindText,
			Key: "kept", Hash: []byte("kept"), Body: []byte(`{"text":"kept"}`), At: lived.Add(time.Hour)})
		return err
	}())
	w := u.Words
	for _, forged := range []string{
		// A text of today, with any hash.
		`update entries set body = '{"recalled":true}', text_seal = ` + w.Bytes(32) + ` where id = 'kept'`,
		`update entries set body = '{"recalled":true}', text_seal = ` + w.Bytes(32) + `, fold = format('{"recall_seq":%s}', seq) where id = 'kept'`,
		// The hash of a retired text is another one, words come back, or the retention has passed a text that it has left.
		`update entries set text_seal = ` + w.Bytes(32) + ` where id = 'e-room-2'`,
		`update entries set body = '{"text":"back"}' where id = 'e-room-2'`,
		`update entries set fold = '' where id = 'e-room-2'`,
		`update retention set seq = 1000`,
		// What explains the removed texts is gone.
		`delete from retention`, `update retention set seq = 0`,
	} {
		if !u.mustFind(t, forged) {
			t.Errorf("changes nothing: %s", forged)
		}
	}
}
