package sqlitestore

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
)

// liveliness fills a database through the store's own methods.
type liveliness struct {
	testing.TB
	s  *Store
	at time.Time
}

// live makes two rooms with texts and packets of every mode that ended in every way, or are still open.
func live(t testing.TB, s *Store) {
	t.Helper()
	l := &liveliness{TB: t, s: s, at: time.UnixMilli(1_700_000_000_000)}
	l.furnish()
	drained := l.send("u1", "drained", redpacket.Lucky, redpacket.Classic, 1000, 4)
	l.claim(drained, 4)
	l.end(drained, redpacket.Drained)
	expired := l.send("u1", "expired", redpacket.Lucky, redpacket.Wild, 500, 5)
	l.claim(expired, 3)
	l.end(expired, redpacket.Expired)
	l.end(l.send("u2", "cancelled", redpacket.Equal, "", 100, 3), redpacket.Cancelled)
	even := l.send("u1", "even", redpacket.Equal, "", 100, 3)
	l.claim(even, 3)
	l.end(even, redpacket.Drained)
	l.claim(l.send("u2", "open", redpacket.Lucky, redpacket.Calm, 900, 6), 2)
	l.send("u2", "untouched", redpacket.Lucky, redpacket.Classic, 50, 5)
}

func (l *liveliness) must(err error) {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
}

func (l *liveliness) furnish() {
	l.Helper()
	ctx := l.Context()
	for i := range 10 {
		l.must(l.s.PutUser(ctx, chat.User{ID: fmt.Sprintf("u%d", i), Name: "Name"}))
	}
	for i, room := range []string{"room-1", "room-2"} {
		_, _, err := l.s.CreateRoom(ctx, chat.NewRoom{ID: room, Name: room, Kind: chat.Public, Owner: chat.User{ID: "u1"},
			Members: []string{"u2", "u3"}, Key: room, Hash: []byte(room), At: l.at, MaxRooms: 5})
		l.must(err)
		_, _, err = l.s.Append(ctx, chat.Draft{ID: "e-" + room, Room: room, From: chat.User{ID: "u2"}, Kind: chat.KindText,
			Key: "text-" + room, Hash: []byte{byte(i)}, Body: json.RawMessage(`{"text":"hello"}`), At: l.at})
		l.must(err)
	}
	for i, amount := range []redpacket.Money{100_000, 5000, -200} {
		user, key := fmt.Sprintf("u%d", 1+i%2), fmt.Sprintf("adjust-%d", i)
		_, _, err := l.s.Adjust(ctx, redpacket.Adjustment{ID: key, User: user, Amount: amount, Key: key, Hash: []byte(key), At: l.at})
		l.must(err)
	}
}

func (l *liveliness) send(from, id string, mode redpacket.Mode, spread redpacket.Spread, total redpacket.Money, count int) redpacket.Packet {
	l.Helper()
	sent, err := l.s.Send(l.Context(), redpacket.Order{
		Packet: redpacket.Packet{Ref: redpacket.Ref{ID: id}, Room: "room-1", From: chat.User{ID: from, Name: "Name"}, Mode: mode, Spread: spread,
			Total: total, Count: count, Greeting: "<恭喜>", CreatedAt: l.at, ExpiresAt: l.at.Add(time.Hour), Key: id},
		Hash: []byte(id), NextSeed: redpacket.NewSeed(), EntryID: "e-" + id,
	})
	l.must(err)
	return sent.Packet
}

// claim settles the first n shares for users u0 to u(n-1).
func (l *liveliness) claim(p redpacket.Packet, n int) {
	l.Helper()
	for i := range n {
		got, err := l.s.Settle(l.Context(), []redpacket.Claim{{Ref: p.Ref, Share: i, User: fmt.Sprintf("u%d", i), At: l.at}})
		l.must(err)
		if got[0].Verdict != redpacket.PaidNow {
			l.Fatalf("share %d of %s: %+v", i, p.ID, got)
		}
	}
}

func (l *liveliness) end(p redpacket.Packet, reason redpacket.Status) {
	l.Helper()
	closed, err := l.s.End(l.Context(), redpacket.Close{Ref: p.Ref, Reason: reason, At: l.at.Add(time.Minute), EntryID: "done-" + p.ID})
	l.must(err)
	if !closed.Done || closed.Book.Status != reason {
		l.Fatalf("end of %s: %+v", p.ID, closed)
	}
}
