package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/eventlog"
)

// EventsUnderTest is an engine with an empty database.
type EventsUnderTest struct {
	eventlog.Store

	Consumers eventlog.Consumers
	Absences  eventlog.Absences

	Ledger redpacket.Ledger
	Rooms  chat.Store
	// NewEpoch makes the database begin a new epoch.
	NewEpoch func()
	// Exec runs a statement without parameters.
	Exec func(statement string) error
}

// TestEvents checks that an engine keeps the contracts of eventlog.Store, eventlog.Consumers and eventlog.Absences, and that
// the changes of a ledger and of rooms add their events. open is called once for each test.
func TestEvents(t *testing.T, open func(t *testing.T) EventsUnderTest) {
	for _, test := range []struct {
		name  string
		kinds []string
		run   func(b *eventsBench)
	}{
		{"each fact is one event", []string{"*"}, eachFactOnce},
		{"refused and repeated calls add no event", []string{"*"}, refusedAddsNothing},
		{"only wanted kinds are written", []string{"message.*", "packet.claimed"}, onlyWanted},
		{"nothing is written without kinds", nil, nothingWithoutKinds},
		{"small pages give the same events as a large one", []string{"*"}, smallPages},
		{"a reader may want fewer kinds", []string{"*"}, fewerKinds},
		{"a recalled text is not in the stream", []string{"*"}, recalledNotInStream},
		{"the newest cursor is behind all events", []string{"*"}, fromNewest},
		{"old events are deleted, and a cursor before them is refused", []string{"*"}, oldEventsDeleted},
		{"the number of rows is bounded", []string{"*"}, rowsBounded},
		{"a cursor of another epoch is refused", []string{"*"}, otherEpoch},
		{"an unreadable row costs only itself", []string{"*"}, unreadableRow},
		{"consumers are stored and listed", []string{"*"}, consumersListed},
		{"one instance delivers", []string{"*"}, oneDelivers},
		{"held events of a key wait for the first one", []string{"*"}, heldEvents},
		{"readers wait for rows that are visible later", []string{"*"}, visibleLater},
		{"the number of a held event is not given again", []string{"*"}, heldNumbers},
		{"members that have not read an entry", nil, unreadMembers},
		{"news for absent users are merged by minute", []string{"*"}, absencesTold},
	} {
		t.Run(test.name, func(t *testing.T) {
			u := open(t)
			kinds, err := eventlog.ParseKinds(test.kinds)
			noError(t, err)
			u.UseEvents(kinds)
			b := &eventsBench{
				ledgerBench: &ledgerBench{T: t, ledger: u.Ledger, rooms: u.Rooms, ctx: t.Context(), now: time.UnixMilli(1_700_000_000_000).UTC()},
				u:           u,
			}
			b.furnish()
			test.run(b)
		})
	}
}

type eventsBench struct {
	*ledgerBench

	u EventsUnderTest
}

func allKinds() eventlog.Kinds {
	kinds, _ := eventlog.ParseKinds([]string{"*"})
	return kinds
}

// readAll reads from the cursor to the end, at most limit events at a time.
func (b *eventsBench) readAll(from eventlog.Cursor, limit int, kinds eventlog.Kinds) (all []eventlog.Event, next eventlog.Cursor) {
	b.Helper()
	for {
		batch, err := b.u.Events(b.ctx, eventlog.Query{After: from, Kinds: kinds, Limit: limit})
		b.must(err)
		if len(batch.Faults) > 0 || len(batch.Events) > limit {
			b.Fatalf("%d events, faults %v", len(batch.Events), batch.Faults)
		}
		all = append(all, batch.Events...)
		if from, err = eventlog.ParseCursor(batch.Next.String()); err != nil {
			b.Fatalf("cursor %q: %v", batch.Next.String(), err)
		}
		if !batch.More {
			return all, from
		}
	}
}

func (b *eventsBench) newest() eventlog.Cursor {
	b.Helper()
	c, err := b.u.NewestEvent(b.ctx)
	b.must(err)
	return c
}

// since returns short descriptions of the events after the cursor, in order.
func (b *eventsBench) since(from eventlog.Cursor) (names []string) {
	b.Helper()
	all, _ := b.readAll(from, 1000, allKinds())
	for _, e := range all {
		names = append(names, describe(e))
	}
	return names
}

func describe(e eventlog.Event) string {
	switch {
	case e.Entry != nil:
		return fmt.Sprintf("%s %s %d", e.Kind, e.Room, e.Entry.Seq)
	case e.Claim != nil:
		return fmt.Sprintf("%s %s share %d by %s in %s", e.Kind, e.Claim.Packet, e.Claim.Share, e.User, e.Room)
	case e.Transfer != nil:
		return fmt.Sprintf("%s %s %d", e.Kind, e.User, e.Transfer.Amount)
	case e.Room != "" && e.User != "":
		return fmt.Sprintf("%s %s %s", e.Kind, e.Room, e.User)
	}
	return e.Kind + " " + e.Room + e.User
}

func (b *eventsBench) want(got []string, want ...string) {
	b.Helper()
	if !slices.Equal(got, want) {
		b.Errorf("events\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// eventCase is a call and the events that it must add. If want is nil, the events are not compared.
type eventCase struct {
	what string
	call func() error
	want []string
}

// say returns a text of the user for the room. It is not appended yet.
func (b *eventsBench) say(user, text string) chat.Draft {
	key := b.id("text")
	body, err := chat.Body(chat.Text{Text: text})
	b.must(err)
	return chat.Draft{ID: key, Room: theRoom, From: b.user(user), Kind: chat.KindText, Key: key, Hash: []byte(key), Body: body, At: b.now}
}

func (b *eventsBench) amending(kind chat.EntryKind, target int64) chat.Amendment {
	a := chat.Amendment{Kind: kind, Room: theRoom, Target: target, By: b.user(sender), At: b.now, ID: b.id("amend"), Window: time.Hour}
	switch kind {
	case chat.KindEdit:
		a.Text = "edited"
	case chat.KindReact:
		a.Emoji, a.On = "👍", true
	}
	return a
}

func (b *eventsBench) changing(kind chat.ChangeKind, users ...string) chat.Change {
	c := chat.Change{Kind: kind, Room: theRoom, By: b.user(sender), Users: users, At: b.now, MaxRooms: 10, MaxMembers: 100, Role: chat.Admin}
	for range 2 + len(users) {
		c.EntryIDs = append(c.EntryIDs, b.id("change"))
	}
	if name := "renamed"; kind == chat.UpdateRoom {
		c.To.Name = &name
	}
	return c
}

// life returns calls that together add events of all kinds, except user.offline_message and transfer.reversed. They must be made
// in this order. Each has the events that it must add, or nil if they are not compared.
func (b *eventsBench) life() []eventCase {
	packet, second := b.order(sender, 100, 2), b.order(sender, 60, 3)
	claims := []redpacket.Claim{b.claim(packet.Packet, member(1), 1), b.claim(packet.Packet, member(0), 0)}
	change := func(c chat.Change) func() error {
		return func() error { _, err := b.rooms.Change(b.ctx, c); return err }
	}
	amend := func(a chat.Amendment) func() error {
		return func() error { _, err := b.rooms.Amend(b.ctx, a); return err }
	}
	send := func(o redpacket.UnsealedPacket) func() error {
		return func() error { _, err := b.ledger.Send(b.ctx, o); return err }
	}
	adjust := func(user string, amount redpacket.Money) func() error {
		return func() error { _, _, err := b.ledger.Adjust(b.ctx, b.adjustment(user, amount)); return err }
	}
	text := b.say(sender, "hello")
	report := chat.NewReport{Key: "report", Hash: []byte("h"), Report: chat.Report{
		ID: "report", Kind: chat.ReportPerson, By: member(3), About: sender, Room: theRoom, Reason: "spam", At: b.now, State: chat.ReportOpen,
	}}
	return []eventCase{
		{"text", func() error { _, _, err := b.rooms.Append(b.ctx, text); return err }, []string{"message.new room-1 1"}},
		{"edit", amend(b.amending(chat.KindEdit, 1)), []string{"message.edited room-1 2"}},
		{"react", amend(b.amending(chat.KindReact, 1)), []string{"message.reaction room-1 3"}},
		{"recall", amend(b.amending(chat.KindRecall, 1)), []string{"message.recalled room-1 4"}},
		{"credit", adjust(outsider, 50), []string{"transfer.credit outsider 50"}},
		{"debit", adjust(outsider, -20), []string{"transfer.debit outsider -20"}},
		{"send", send(packet), []string{"transfer.send sender -100", "packet.sent room-1 5"}},
		{"settle", func() error { return redpacket.UnsettledErr(b.ledger.Settle(b.ctx, claims)) }, nil},
		{"end", func() error { _, err := b.ledger.End(b.ctx, b.closing(packet.Packet, redpacket.Drained)); return err }, []string{"packet.closed room-1 6"}},
		{"send again", send(second), []string{"transfer.send sender -60", "packet.sent room-1 7"}},
		{"end with a grant that is not settled", func() error {
			_, err := b.ledger.End(b.ctx, b.closing(second.Packet, redpacket.Expired, redpacket.Grant{User: member(2), Share: 0}))
			return err
		}, nil},
		{"join", func() error {
			_, _, err := b.rooms.Join(b.ctx, chat.Joining{Room: theRoom, User: outsider, At: b.now, MaxRooms: 10, MaxMembers: 100})
			return err
		}, []string{"member.joined room-1 outsider"}},
		{"leave", func() error {
			_, err := b.rooms.Leave(b.ctx, chat.Leaving{Room: theRoom, User: b.user(outsider), At: b.now, EntryIDs: [2]string{b.id("l"), b.id("l")}})
			return err
		}, []string{"member.left room-1 outsider"}},
		{"role", change(b.changing(chat.SetRole, member(3))), []string{"member.changed room-1 9"}},
		{"kick", change(b.changing(chat.Kick, member(4))), []string{"member.left room-1 member-04", "member.changed room-1 10"}},
		{"report", func() error { _, _, err := b.rooms.AddReport(b.ctx, report); return err }, []string{"report.new room-1 member-03"}},
		{"resolve", func() error {
			_, err := b.rooms.ResolveReport(b.ctx, chat.Resolution{Report: report.ID, Outcome: "acted", Cause: "spam", By: "key/shop", At: b.now})
			return err
		}, []string{"report.resolved room-1 member-03"}},
		{"appeal", func() error {
			_, err := b.rooms.AppealReport(b.ctx, report.ID, chat.Appeal{By: sender, Text: "no", At: b.now})
			return err
		}, []string{"report.appealed room-1 member-03"}},
		{"rename", change(b.changing(chat.UpdateRoom)), []string{"room.updated room-1 11"}},
		{"profile", func() error {
			_, _, err := b.rooms.PutUser(b.ctx, chat.Profile{User: chat.User{ID: outsider, Name: "new name"}}, 0)
			return err
		}, []string{"user.updated outsider"}},
		{"revoke", func() error { return b.rooms.Revoke(b.ctx, outsider, 5) }, []string{"user.revoked outsider"}},
		{"record", func() error {
			_, err := b.rooms.PutUserRecord(b.ctx, chat.UserPut{User: outsider, Ref: new("c-1")})
			return err
		}, []string{"user.updated outsider"}},
		{"the same record", func() error {
			_, err := b.rooms.PutUserRecord(b.ctx, chat.UserPut{User: outsider, Ref: new("c-1"), Name: new("new name")})
			return err
		}, []string{}},
		{"suspend", func() error { _, err := b.rooms.Suspend(b.ctx, outsider, b.now); return err }, []string{"user.suspended outsider"}},
		{"suspend again", func() error { _, err := b.rooms.Suspend(b.ctx, outsider, b.now); return err }, []string{}},
		{"reinstate", func() error { _, err := b.rooms.Reinstate(b.ctx, outsider); return err }, []string{"user.reinstated outsider"}},
		{"reinstate again", func() error { _, err := b.rooms.Reinstate(b.ctx, outsider); return err }, []string{}},
		{"direct room", func() error {
			_, err := b.rooms.Direct(b.ctx, chat.Pairing{ID: "pair", User: b.user(sender), Other: member(5), At: b.now, EntryID: b.id("p"), MaxRooms: 10})
			return err
		}, []string{"room.created pair", "member.joined pair sender", "member.joined pair member-05"}},
		{"delete", change(b.changing(chat.DeleteRoom)), []string{"room.deleted room-1"}},
		{"erase", func() error {
			(&eraser{TB: b.T, store: b.rooms, at: b.now}).erase(outsider, true)
			return nil
		}, []string{"user.erased outsider"}},
	}
}

// live makes the calls of life, and returns the events that they have added.
func (b *eventsBench) live() []string {
	b.Helper()
	from := b.newest()
	for _, c := range b.life() {
		if err := c.call(); err != nil {
			b.Fatalf("%s: %v", c.what, err)
		}
	}
	return b.since(from)
}

func eachFactOnce(b *eventsBench) {
	whole := b.newest()
	for _, c := range b.life() {
		from := b.newest()
		if err := c.call(); err != nil {
			b.Fatalf("%s: %v", c.what, err)
		}
		got := b.since(from)
		if c.want != nil {
			// Inside one transaction the order of different kinds does not matter.
			slices.Sort(got)
			slices.Sort(c.want)
			b.want(got, c.want...)
		}
	}
	all, _ := b.readAll(whole, 1000, allKinds())
	kinds, ids := map[string]int{}, map[string]bool{}
	for _, e := range all {
		kinds[e.Kind]++
		if ids[e.ID] || e.ID == "" || e.At.IsZero() {
			b.Errorf("event %+v: id used twice, or something is missing", e)
		}
		ids[e.ID] = true
	}
	for _, kind := range eventlog.AllKinds() {
		if kinds[kind] == 0 && kind != eventlog.UserOffline && kind != eventlog.TransferReversed { // see absencesTold and TestFundings
			b.Errorf("no event of kind %s", kind)
		}
	}
	if kinds["packet.claimed"] != 3 || kinds["transfer.claim"] != 3 || kinds["transfer.refund"] != 1 || kinds["packet.closed"] != 2 {
		b.Errorf("counts of kinds: %v", kinds)
	}
	b.balancedEvents(all)
}

// balancedEvents checks that each wallet holds the sum of its user's transfers in the events, plus the money from furnish.
func (b *eventsBench) balancedEvents(all []eventlog.Event) {
	b.Helper()
	sums := map[string]redpacket.Money{sender: initial}
	for _, e := range all {
		if e.Transfer != nil {
			sums[e.User] += e.Transfer.Amount
		}
	}
	for user, sum := range sums {
		if has := b.account(user).Balance; has != sum {
			b.Errorf("the transfers of %s sum up to %d, the wallet holds %d", user, sum, has)
		}
	}
}

func refusedAddsNothing(b *eventsBench) {
	text, o := b.say(sender, "hello"), b.order(sender, 100, 2)
	_, _, err := b.rooms.Append(b.ctx, text)
	b.must(err)
	p := b.send(o).Packet
	a := b.adjustment(sender, 5)
	_, _, err = b.ledger.Adjust(b.ctx, a)
	b.must(err)
	claim := b.claim(p, member(1), 0)
	b.verdict(redpacket.PaidNow, claim)
	b.must(b.rooms.Revoke(b.ctx, outsider, 5))

	from := b.newest()
	if _, dup, err := b.rooms.Append(b.ctx, text); err != nil || !dup {
		b.Errorf("the same text: dup %v, %v", dup, err)
	}
	if again := b.send(o); !again.Dup {
		b.Error("the same packet is no dup")
	}
	if _, dup, err := b.ledger.Adjust(b.ctx, a); err != nil || !dup {
		b.Errorf("the same credit: dup %v, %v", dup, err)
	}
	b.verdict(redpacket.Duplicate, claim)
	b.verdict(redpacket.Conflict, b.claim(p, member(2), 0))
	if settled := b.settle(b.claim(p, member(1), 1), b.claim(p, member(3), 0)); settled[0].Verdict == redpacket.PaidNow || settled[1].Verdict == redpacket.PaidNow {
		b.Errorf("settled %+v", settled)
	}
	if _, err := b.ledger.Send(b.ctx, b.order(member(9), 100, 2)); !errors.Is(err, redpacket.ErrInsufficientBalance) {
		b.Errorf("send without money: %v", err)
	}
	if _, _, err := b.ledger.Adjust(b.ctx, b.adjustment(member(9), -1)); !errors.Is(err, redpacket.ErrInsufficientBalance) {
		b.Errorf("debit without money: %v", err)
	}
	_, _, err = b.rooms.Join(b.ctx, chat.Joining{Room: theRoom, User: member(1), At: b.now, MaxRooms: 10, MaxMembers: 100})
	b.must(err)
	b.must(b.rooms.Revoke(b.ctx, outsider, 5))
	_, _, err = b.rooms.PutUser(b.ctx, chat.Profile{User: b.user(member(1))}, 0)
	b.must(err)
	b.want(b.since(from))

	from = b.newest()
	settled := b.settle(b.claim(p, member(1), 1), b.claim(p, member(2), 1)) // the first is refused, the second is paid
	if settled[1].Verdict != redpacket.PaidNow {
		b.Fatalf("settled %+v", settled)
	}
	got := b.since(from)
	b.want(got, fmt.Sprintf("packet.claimed %s share 1 by member-02 in room-1", p.ID), fmt.Sprintf("transfer.claim member-02 %d", settled[1].Amount))
}

func onlyWanted(b *eventsBench) {
	all, _ := b.readAll(eventlog.Cursor{}, 1000, allKinds())
	if len(all) > 0 {
		b.Errorf("%d events of unwanted kinds", len(all))
	}
	for _, name := range b.live() {
		if !strings.HasPrefix(name, "message.") && !strings.HasPrefix(name, "packet.claimed ") && !strings.HasPrefix(name, "transfer.claim ") {
			b.Errorf("event %s of an unwanted kind", name)
		}
	}
	all, _ = b.readAll(eventlog.Cursor{}, 1000, allKinds())
	// A row with a claim holds two events, packet.claimed and transfer.claim. A reader leaves out the kinds that it does not want.
	if len(all) != 4+2*3 {
		b.Errorf("%d events", len(all))
	}
}

func nothingWithoutKinds(b *eventsBench) {
	b.want(b.live())
	b.must(b.u.Exec(`insert into events (chain, id, at, refs) values (0, 1, 1, cast('[]' as bytea))`)) // fails if row 1 exists
	batch, err := b.u.Events(b.ctx, eventlog.Query{Kinds: allKinds(), Limit: 10})
	if err != nil || len(batch.Events) > 0 {
		b.Errorf("events %v, %v", batch.Events, err)
	}
}

func smallPages(b *eventsBench) {
	b.live()
	want, _ := b.readAll(eventlog.Cursor{}, 1000, allKinds())
	for _, limit := range []int{1, 2, 3, 7} {
		got, end := b.readAll(eventlog.Cursor{}, limit, allKinds())
		if !slices.EqualFunc(got, want, func(a, b eventlog.Event) bool { return a.ID == b.ID && describe(a) == describe(b) }) {
			b.Errorf("pages of %d give %d events, want %d in the same order", limit, len(got), len(want))
		}
		if more, _ := b.readAll(end, 10, allKinds()); len(more) > 0 {
			b.Errorf("%d events after the end", len(more))
		}
	}
}

func fewerKinds(b *eventsBench) {
	b.live()
	kinds, err := eventlog.ParseKinds([]string{"packet.*", "room.deleted"})
	b.must(err)
	var want []string
	all, _ := b.readAll(eventlog.Cursor{}, 1000, allKinds())
	for _, e := range all {
		if kinds[e.Kind] {
			want = append(want, e.ID)
		}
	}
	some, _ := b.readAll(eventlog.Cursor{}, 2, kinds)
	var got []string
	for _, e := range some {
		got = append(got, e.ID)
	}
	if len(want) < 5 {
		b.Fatalf("only %d events", len(want))
	}
	b.want(got, want...)
}

func recalledNotInStream(b *eventsBench) {
	_, _, err := b.rooms.Append(b.ctx, b.say(sender, "a secret"))
	b.must(err)
	all, _ := b.readAll(eventlog.Cursor{}, 1000, allKinds())
	if last := all[len(all)-1]; !strings.Contains(string(last.Entry.Body), "a secret") {
		b.Errorf("the body is %s", last.Entry.Body)
	}
	_, err = b.rooms.Amend(b.ctx, b.amending(chat.KindRecall, 1))
	b.must(err)
	all, _ = b.readAll(eventlog.Cursor{}, 1000, allKinds())
	for _, e := range all {
		if text, err := json.Marshal(e); err != nil || strings.Contains(string(text), "a secret") {
			b.Errorf("event %s has the recalled text: %v", e.ID, err)
		}
	}
}

func fromNewest(b *eventsBench) {
	from := b.newest()
	b.want(b.since(from))
	_, _, err := b.rooms.Append(b.ctx, b.say(sender, "hello"))
	b.must(err)
	b.want(b.since(from), "message.new room-1 1")
	oldest, err := b.u.OldestEvent(b.ctx)
	b.must(err)
	all, _ := b.readAll(oldest, 1000, allKinds())
	zero, _ := b.readAll(eventlog.Cursor{}, 1000, allKinds())
	if len(all) != len(zero) || len(all) == 0 {
		b.Errorf("%d events from the oldest, %d from nothing", len(all), len(zero))
	}
}

// prune calls PruneEvents until a call deletes nothing. PruneEvents deletes the rows from before now - 1 h, and all rows but
// the newest ones, whose number is most. It keeps rows that no earlier call has marked as reached.
func (b *eventsBench) prune(now time.Time, most int64) {
	b.Helper()
	for {
		n, err := b.u.PruneEvents(b.ctx, now, now.Add(-time.Hour), most)
		b.must(err)
		if n == 0 {
			return
		}
	}
}

func oldEventsDeleted(b *eventsBench) {
	begin, now := eventlog.Cursor{}, time.Now()
	early, err := b.u.Events(b.ctx, eventlog.Query{Kinds: allKinds(), Limit: 1})
	b.must(err)
	b.prune(now, 1e9) // marks how far the stream has come: behind the rows of furnish
	read := b.newest()
	b.prune(now.Add(2*time.Hour), 1e9)
	if all, _ := b.readAll(begin, 100, allKinds()); len(all) > 0 {
		b.Errorf("%d events, want none: all are old", len(all))
	}
	if _, err := b.u.Events(b.ctx, eventlog.Query{After: early.Next, Kinds: allKinds(), Limit: 1}); !errors.Is(err, eventlog.ErrExpired) {
		b.Errorf("a cursor before deleted events: %v", err)
	}
	_, _, err = b.rooms.Append(b.ctx, b.say(sender, "hello"))
	b.must(err)
	b.want(b.since(read), "message.new room-1 1") // the cursor of a reader that had read everything stays valid
	b.want(b.since(begin), "message.new room-1 1")

	b.prune(now.Add(3*time.Hour), 1e9) // no mark was made after the row until now, so the row stays
	b.want(b.since(begin), "message.new room-1 1")
	_, read = b.readAll(begin, 100, allKinds())
	b.prune(now.Add(9*time.Hour), 1e9)
	b.want(b.since(begin))
	b.want(b.since(read))
	oldest, err := b.u.OldestEvent(b.ctx)
	b.must(err)
	if empty, err := b.u.Events(b.ctx, eventlog.Query{After: oldest, Kinds: allKinds(), Limit: 1}); err != nil || len(empty.Events) != 0 || empty.More {
		b.Errorf("%+v, %v; want nothing: all are deleted", empty, err)
	}
	_, _, err = b.rooms.Append(b.ctx, b.say(sender, "hello again"))
	b.must(err)
	b.want(b.since(read), "message.new room-1 2")
}

func rowsBounded(b *eventsBench) {
	now := time.Now()
	for range 5 {
		_, _, err := b.rooms.Append(b.ctx, b.say(sender, "hello"))
		b.must(err)
		b.prune(now, 2)
	}
	b.want(b.since(eventlog.Cursor{}), "message.new room-1 4", "message.new room-1 5")
}

func otherEpoch(b *eventsBench) {
	from := b.newest()
	b.u.NewEpoch()
	if _, err := b.u.Events(b.ctx, eventlog.Query{After: from, Kinds: allKinds(), Limit: 1}); !errors.Is(err, eventlog.ErrEpoch) {
		b.Errorf("a cursor of the epoch before: %v", err)
	}
	b.want(b.since(b.newest()))
	if all, _ := b.readAll(eventlog.Cursor{}, 100, allKinds()); len(all) == 0 {
		b.Error("no events from the beginning")
	}
}

func unreadableRow(b *eventsBench) {
	from := b.newest()
	for id, refs := range []string{`no json`, `[{"k":"message.new","r":"no-such-room","s":7},{"k":"room.updated","r":"here"}]`} {
		b.must(b.u.Exec(fmt.Sprintf(`insert into events (chain, id, at, refs) values (0, %d, 1, cast('%s' as bytea))`, 5000+id, refs)))
	}
	batch, err := b.u.Events(b.ctx, eventlog.Query{After: from, Kinds: allKinds(), Limit: 10})
	b.must(err)
	if len(batch.Faults) != 2 || len(batch.Events) != 1 || batch.Events[0].Room != "here" {
		b.Errorf("faults %v, events %v; want two faults and the event that is left", batch.Faults, batch.Events)
	}
	b.want(b.since(batch.Next))
}
