package storetest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
)

// Life creates data in an engine through the engine's own methods.
type Life struct {
	testing.TB
	Ledger redpacket.Ledger
	Rooms  chat.Store
	At     time.Time
	Room   string // into which Send sends; "" means room-1
}

// lived is the time of what Live does, except that packets end a minute later.
var lived = time.UnixMilli(1_700_000_000_000)

// Live creates two rooms with texts. Into room-1 it sends lucky and equal packets: some end as drained, expired or cancelled,
// and two stay open. It also adds reactions, and recalls a text.
func Live(t testing.TB, ledger redpacket.Ledger, rooms chat.Store) {
	t.Helper()
	l := &Life{TB: t, Ledger: ledger, Rooms: rooms, At: lived}
	l.furnish()
	drained := l.Send("u1", "drained", redpacket.Lucky, redpacket.Classic, 1000, 4)
	l.Claim(drained, 4)
	l.End(drained, redpacket.Drained)
	expired := l.Send("u1", "expired", redpacket.Lucky, redpacket.Wild, 500, 5)
	l.Claim(expired, 3)
	l.End(expired, redpacket.Expired)
	l.End(l.Send("u2", "cancelled", redpacket.Equal, "", 100, 3), redpacket.Cancelled)
	even := l.Send("u1", "even", redpacket.Equal, "", 100, 3)
	l.Claim(even, 3)
	l.End(even, redpacket.Drained)
	early := l.send(redpacket.Packet{Ref: redpacket.Ref{ID: "early"}, From: chat.User{ID: "u1", Name: "Name"}, Mode: redpacket.Equal,
		Total: 100, Count: 2, OpensAt: l.At, ExpiresAt: l.At.Add(time.Hour)})
	l.Claim(early, 2)
	l.End(early, redpacket.Drained)
	l.holding()
	persons := l.send(redpacket.Packet{Ref: redpacket.Ref{ID: "persons"}, From: chat.User{ID: "u1", Name: "Name"}, Mode: redpacket.Equal,
		Total: 100, Count: 2, OnePerPerson: true, ExpiresAt: l.At.Add(time.Hour)})
	l.bindAll(persons)
	l.Claim(persons, 2)
	l.End(persons, redpacket.Drained)
	l.Claim(l.Send("u2", "open", redpacket.Lucky, redpacket.Calm, 900, 6), 2)
	l.draw("drawn", 3, redpacket.RestRefund, "u3", "u4", "u5", "u6", "u7")
	l.drawWhole("shared", 5, redpacket.RestShare, "u4", "u5", "u6")
	l.draw("deserted", 2, redpacket.RestShare)
	entered := l.sendDraw("entered", 2, redpacket.RestRefund)
	l.enter(entered, "u4", "u8")
	once := l.send(redpacket.Packet{Ref: redpacket.Ref{ID: "once", Partition: redpacket.NoPartition}, From: chat.User{ID: "u1", Name: "Name"}, Mode: redpacket.Equal,
		Total: 100, Count: 2, ExpiresAt: farAway, Window: time.Minute, Rest: redpacket.RestRefund, OnePerPerson: true})
	l.enter(once, "u4", "u5")
	l.endDraw(l.rain("rained", "u3", "u4", "u5", "u6", "u7"), redpacket.CloseEarly)
	raining := l.rain("raining", "u4", "u8")
	_, err := l.Ledger.Draw(l.Context(), redpacket.DrawRequest{Ref: raining.Ref, Why: redpacket.CloseDue})
	l.Must(err)
	untouched := l.Send("u2", "untouched", redpacket.Lucky, redpacket.Classic, 50, 5)
	l.amend(untouched.Seq)
}

// holding sends a packet that holds shares for u3 and u4. u3 claims the own share, and others claim the rest: that of u4 an hour later.
func (l *Life) holding() {
	l.Helper()
	p := l.send(redpacket.Packet{Ref: redpacket.Ref{ID: "holding"}, From: chat.User{ID: "u1", Name: "Name"}, Mode: redpacket.Lucky, Spread: redpacket.Classic,
		Total: 200, Count: 4, ExpiresAt: l.At.Add(time.Hour), Hold: redpacket.Hold{Until: l.At.Add(time.Hour), For: []redpacket.Grant{{User: "u3"}, {User: "u4"}}}})
	others := []string{"u5", "u6"}
	for share := range 4 {
		c := redpacket.Claim{Ref: p.Ref, Share: share, At: l.At}
		switch share {
		case p.Hold.ShareOf("u3"):
			c.User = "u3"
		case p.Hold.ShareOf("u4"):
			c.User, c.At = "u7", l.At.Add(time.Hour)
		default:
			c.User, others = others[0], others[1:]
		}
		l.Must(redpacket.UnsettledErr(l.Ledger.Settle(l.Context(), []redpacket.Claim{c})))
	}
	l.End(p, redpacket.Drained)
}

// Must fails the test if the engine fails.
func (l *Life) Must(err error) {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
}

func (l *Life) furnish() {
	l.Helper()
	ctx := l.Context()
	for i := range 10 {
		_, _, err := l.Rooms.PutUser(ctx, chat.Profile{User: chat.User{ID: fmt.Sprintf("u%d", i), Name: "Name"}}, 0)
		l.Must(err)
	}
	_, err := l.Rooms.PutUserRecord(ctx, chat.UserPut{User: "u1", Ref: new("host-user")})
	l.Must(err)
	for i, room := range []string{"room-1", "room-2"} {
		_, _, err := l.Rooms.CreateRoom(ctx, chat.NewRoom{ID: room, Name: room, Kind: chat.Public, Owner: chat.User{ID: "u1"},
			Members: []string{"u2", "u3"}, Key: room, Hash: []byte(room), Ref: "host-" + room, At: l.At, MaxRooms: 5})
		l.Must(err)
		_, _, err = l.Rooms.Append(ctx, chat.Draft{ID: "e-" + room, Room: room, From: chat.User{ID: "u2"}, Kind: chat.KindText,
			Key: "text-" + room, Hash: []byte{byte(i)}, Body: json.RawMessage(`{"text":"hello"}`), At: l.At})
		l.Must(err)
	}
	for i, amount := range []redpacket.Money{100_000, 5000, -200} {
		user, key := fmt.Sprintf("u%d", 1+i%2), fmt.Sprintf("adjust-%d", i)
		_, _, err := l.Ledger.Adjust(ctx, redpacket.Adjustment{ID: key, User: user, Amount: amount, Key: key, Hash: []byte(key), At: l.At,
			Actor: "ops", RequestID: "request-" + key, Reason: "test"})
		l.Must(err)
	}
}

// amend edits a text of room-1 twice, and adds reactions to it and to a packet. It does the same with another text, and recalls it.
func (l *Life) amend(packet int64) {
	l.Helper()
	amend := func(kind chat.EntryKind, target int64, by, what string) {
		l.Helper()
		_, err := l.Rooms.Amend(l.Context(), chat.Amendment{Kind: kind, Room: "room-1", Target: target, By: chat.User{ID: by},
			Emoji: what, Text: what, On: true, At: l.At, ID: fmt.Sprint(kind, "-", target, by, what), Window: time.Hour})
		l.Must(err)
	}
	var texts [2]int64
	for i := range texts {
		key := fmt.Sprint("reacted-", i)
		e, _, err := l.Rooms.Append(l.Context(), chat.Draft{ID: "e-" + key, Room: "room-1", From: chat.User{ID: "u2"}, Kind: chat.KindText,
			Key: key, Hash: []byte(key), Body: json.RawMessage(`{"text":"hello"}`), At: l.At})
		l.Must(err)
		texts[i] = e.Seq
		amend(chat.KindEdit, e.Seq, "u2", "edited once")
		amend(chat.KindEdit, e.Seq, "u2", "edited twice")
		amend(chat.KindReact, e.Seq, "u1", "👍")
	}
	amend(chat.KindReact, texts[0], "u3", "👍")
	amend(chat.KindReact, texts[0], "u3", "福")
	amend(chat.KindReact, packet, "u3", "🙏")
	amend(chat.KindRecall, texts[1], "u2", "")
}

// Send sends a packet into room-1. id is both the packet's id and its idempotency key.
func (l *Life) Send(from, id string, mode redpacket.Mode, spread redpacket.Spread, total redpacket.Money, count int) redpacket.Packet {
	l.Helper()
	return l.send(redpacket.Packet{Ref: redpacket.Ref{ID: id}, From: chat.User{ID: from, Name: "Name"}, Mode: mode, Spread: spread,
		Total: total, Count: count, ExpiresAt: l.At.Add(time.Hour)})
}

func (l *Life) send(p redpacket.Packet) redpacket.Packet {
	l.Helper()
	p.Room, p.Greeting, p.CreatedAt, p.Key = cmp.Or(l.Room, "room-1"), "<恭喜>", l.At, p.ID
	sent, err := l.Ledger.Send(l.Context(), redpacket.UnsealedPacket{
		Packet: p, Hash: []byte(p.ID), NextSeed: redpacket.NewSeed(), EntryID: "e-" + p.ID,
	})
	l.Must(err)
	return sent.Packet
}

// sendDraw sends a draw that users can enter.
func (l *Life) sendDraw(id string, count int, rest redpacket.Rest) redpacket.Packet {
	l.Helper()
	return l.send(redpacket.Packet{Ref: redpacket.Ref{ID: id, Partition: redpacket.NoPartition}, From: chat.User{ID: "u1", Name: "Name"}, Mode: redpacket.Lucky,
		Spread: redpacket.Classic, Total: 300, Count: count, OpensAt: l.At, ExpiresAt: farAway, Window: time.Minute, Rest: rest})
}

func (l *Life) enter(p redpacket.Packet, users ...string) redpacket.Entering {
	l.Helper()
	var asked []redpacket.Entrant
	for _, user := range users {
		e := redpacket.Entrant{User: user}
		if p.OnePerPerson {
			e.Person = "person of " + user
		}
		asked = append(asked, e)
	}
	e, err := l.Ledger.Enter(l.Context(), p.ID, asked)
	l.Must(err)
	return e
}

// sendRain sends a rain of three waves that ends after left. Its waves have no gap to choose from: each begins half a second after the end
// of the one before.
func (l *Life) sendRain(id string, shares int, left time.Duration) redpacket.Packet {
	l.Helper()
	return l.send(redpacket.Packet{Ref: redpacket.Ref{ID: id, Partition: redpacket.NoPartition}, From: chat.User{ID: "u1", Name: "Name"}, Mode: redpacket.Lucky,
		Spread: redpacket.Classic, Total: 300, Count: 3 * shares, ExpiresAt: time.Now().Add(left), Window: 3 * redpacket.WaveCell,
		Rest: redpacket.RestRefund, Rain: redpacket.Rain{Waves: 3, MaxWins: 1}})
}

// rain sends a rain whose second wave is open, and lets the users enter it. If the machine is so slow that they come too late, it tries
// another one.
func (l *Life) rain(id string, users ...string) redpacket.Packet {
	l.Helper()
	for {
		p := l.sendRain(id, 2, 5*time.Second)
		if len(l.enter(p, users...).New) == len(users) {
			return p
		}
		l.endDraw(p, redpacket.CloseEarly)
		id += "-again"
	}
}

// enterLastWave waits for the last wave of the rain, and lets the users enter it. It returns false if they come too late.
func (l *Life) enterLastWave(p redpacket.Packet, users ...string) bool {
	l.Helper()
	wave := p.Rain.Waves
	time.Sleep(time.Until(p.ExpiresAt.Add(-redpacket.WaveWindow))) // sleeps: until the wave begins, so that the users do not enter the one before
	for {
		e := l.enter(p, users...)
		if e.Wave >= wave || time.Now().After(p.ExpiresAt) {
			return e.Wave == wave
		}
		time.Sleep(20 * time.Millisecond) // sleeps: until the wave has begun by the clock of the engine
	}
}

// bindAll makes each user a person of their own in the packet.
func (l *Life) bindAll(p redpacket.Packet) {
	l.Helper()
	var users []redpacket.Entrant
	for i := range 10 {
		user := fmt.Sprintf("u%d", i)
		users = append(users, redpacket.Entrant{User: user, Person: "person of " + user})
	}
	_, err := l.Ledger.BindPersons(l.Context(), p.ID, users, l.At)
	l.Must(err)
}

// draw sends a draw, lets the users enter, and ends it early.
func (l *Life) draw(id string, count int, rest redpacket.Rest, users ...string) {
	l.Helper()
	p := l.sendDraw(id, count, rest)
	l.enter(p, users...)
	l.endDraw(p, redpacket.CloseEarly)
}

// drawWhole does the same when the window has ended. If the machine is so slow that the users come too late, it tries another draw.
func (l *Life) drawWhole(id string, count int, rest redpacket.Rest, users ...string) {
	l.Helper()
	for window := 300 * time.Millisecond; ; window *= 2 {
		p := l.send(redpacket.Packet{Ref: redpacket.Ref{ID: id, Partition: redpacket.NoPartition}, From: chat.User{ID: "u1", Name: "Name"}, Mode: redpacket.Lucky,
			Spread: redpacket.Classic, Total: 300, Count: count, ExpiresAt: time.Now().Add(window), Window: time.Minute, Rest: rest})
		entered := l.enter(p, users...)
		time.Sleep(time.Until(p.ExpiresAt) + 50*time.Millisecond) // sleeps: until the window has ended by the clock of the engine
		l.endDraw(p, redpacket.CloseDue)
		if len(entered.New) == len(users) {
			return
		}
		id += "-again"
	}
}

func (l *Life) endDraw(p redpacket.Packet, why redpacket.CloseReason) {
	l.Helper()
	d, err := l.Ledger.Draw(l.Context(), redpacket.DrawRequest{Ref: p.Ref, Why: why})
	l.Must(err)
	_, err = l.Ledger.End(l.Context(), redpacket.Close{Ref: p.Ref, Reason: redpacket.Expired, Grants: d.Winners(), At: l.At.Add(time.Minute), EntryID: "done-" + p.ID})
	l.Must(err)
}

// Claim settles shares 0 to n-1 of the packet: share 0 for the user u0, share 1 for u1, and so on.
func (l *Life) Claim(p redpacket.Packet, n int) {
	l.Helper()
	for i := range n {
		got := l.Ledger.Settle(l.Context(), []redpacket.Claim{{Ref: p.Ref, Share: i, User: fmt.Sprintf("u%d", i), At: l.At}})
		if got[0].Verdict != redpacket.PaidNow {
			l.Fatalf("share %d of %s: %+v", i, p.ID, got)
		}
	}
}

// End closes a packet. The packet must end with the status reason.
func (l *Life) End(p redpacket.Packet, reason redpacket.Status) {
	l.Helper()
	closed, err := l.Ledger.End(l.Context(), redpacket.Close{Ref: p.Ref, Reason: reason, At: l.At.Add(time.Minute), EntryID: "done-" + p.ID})
	l.Must(err)
	if !closed.Done || closed.Book.Status != reason {
		l.Fatalf("end of %s: %+v", p.ID, closed)
	}
}
