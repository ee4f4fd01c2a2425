package storetest

import (
	"fmt"
	"slices"
	"time"

	"hongbao/chat"
	"hongbao/store/eventlog"
)

// unreadMembers lists the members that have not read an entry. The list must not contain the sender of the
// entry, nor members that have read the entry, left the room, or made the room silent.
func unreadMembers(b *eventsBench) {
	var seq int64
	for range 2 {
		e, _, err := b.rooms.Append(b.ctx, b.say(member(0), "hello"))
		b.must(err)
		seq = e.Seq
	}
	_, err := b.rooms.Read(b.ctx, theRoom, member(1), seq, b.now)
	b.must(err)
	_, err = b.rooms.Read(b.ctx, theRoom, member(2), seq-1, b.now)
	b.must(err)
	yes := true
	_, err = b.rooms.SetPrefs(b.ctx, chat.PrefsChange{Room: theRoom, User: member(3), Silent: &yes})
	b.must(err)
	_, err = b.rooms.Leave(b.ctx, chat.Leaving{Room: theRoom, User: b.user(member(4)), At: b.now, EntryIDs: [2]string{"left-1", "left-2"}})
	b.must(err)
	all, err := b.rooms.UnreadBy(b.ctx, chat.Unread{Room: theRoom, Seq: seq, Sender: member(0), Limit: 1000})
	b.must(err)
	for user, want := range map[string]bool{
		member(0): false, member(1): false, member(2): true, member(3): false, member(4): false, member(5): true, sender: true, outsider: false,
	} {
		if slices.Contains(all, user) != want {
			b.Errorf("%s is listed: %v, want %v", user, !want, want)
		}
	}
	if !slices.IsSorted(all) {
		b.Errorf("not in order: %q", all)
	}
	var paged []string
	for {
		page, err := b.rooms.UnreadBy(b.ctx, chat.Unread{Room: theRoom, Seq: seq, Sender: member(0), Limit: 3, After: append([]string{""}, paged...)[len(paged)]})
		b.must(err)
		paged = append(paged, page...)
		if len(page) < 3 {
			break
		}
	}
	if !slices.Equal(paged, all) {
		b.Errorf("in pages %q, want %q", paged, all)
	}
	some, err := b.rooms.UnreadBy(b.ctx, chat.Unread{Room: theRoom, Seq: seq, Sender: member(0), Among: []string{member(5), member(1), outsider}, Limit: 9})
	b.must(err)
	if !slices.Equal(some, []string{member(5)}) {
		b.Errorf("of three users %q, want only the member that has not read it", some)
	}
}

// absencesBench stores absences as the consumer does that writes the events user.offline_message.
type absencesBench struct {
	*eventsBench

	told eventlog.Cursor
	seq  int64
}

func newAbsences(b *eventsBench) *absencesBench {
	for _, name := range []string{eventlog.AbsentConsumer, "again"} {
		_, err := b.u.Consumers.Lease(b.ctx, name, "me", time.Minute, b.now)
		b.must(err)
	}
	e, _, err := b.rooms.Append(b.ctx, b.say(member(0), "hello"))
	b.must(err)
	return &absencesBench{eventsBench: b, told: b.newest(), seq: e.Seq}
}

// tell calls TellAbsences, which moves the consumer from the position before to after. Further absences of the same users are
// due in a minute.
func (b *absencesBench) tell(name, before, after string, absences ...eventlog.Absence) error {
	return b.u.Absences.TellAbsences(b.ctx, eventlog.AbsenceLook{
		Consumer: eventlog.Consumer{Name: name, After: after, UpdatedAt: b.now}, Before: before, Owner: "me", Absences: absences,
		Again: name == "again", Due: b.now.Add(time.Minute),
	})
}

func (b *absencesBench) absence(user string, row int64) eventlog.Absence {
	return eventlog.Absence{User: user, Room: theRoom, Seq: b.seq, Row: row, Reason: "mention", Count: 1}
}

// events returns the events since the last call.
func (b *absencesBench) events() (all []string) {
	b.Helper()
	list, next := b.readAll(b.told, 100, eventlog.Kinds{eventlog.UserOffline: true})
	b.told = next
	for _, e := range list {
		if e.Entry == nil || e.Entry.Seq != b.seq || e.Key() != "user "+e.User || e.Room != theRoom {
			b.Errorf("event %+v has not the entry %d and the order of its user", e, b.seq)
		}
		all = append(all, fmt.Sprintf("%s %s", e.User, e.Data))
	}
	return all
}

func absencesTold(bench *eventsBench) {
	b := newAbsences(bench)
	ann, bob := member(1), member(2)
	one := func(user string, n int) string { return fmt.Sprintf(`%s {"reason":"mention","count":%d}`, user, n) }
	b.must(b.tell(eventlog.AbsentConsumer, "", "1", b.absence(bob, 10), b.absence(ann, 10)))
	b.want(b.events(), one(ann, 1), one(bob, 1))
	b.must(b.tell(eventlog.AbsentConsumer, "", "1", b.absence(ann, 10))) // the same again, as after an unknown outcome
	if err := b.u.Absences.TellAbsences(b.ctx, eventlog.AbsenceLook{
		Consumer: eventlog.Consumer{Name: eventlog.AbsentConsumer, After: "x"}, Before: "1", Owner: "other", Absences: []eventlog.Absence{b.absence(ann, 11)},
	}); !eventlog.Lost(err) {
		b.Errorf("an instance without the lease: %v", err)
	}
	b.must(b.tell(eventlog.AbsentConsumer, "1", "2", b.absence(ann, 12), b.absence(bob, 12)))
	b.must(b.tell(eventlog.AbsentConsumer, "2", "3", b.absence(ann, 13)))
	b.must(b.tell("again", "", "1", b.absence(ann, 13), b.absence(member(3), 13))) // the second look: the first one has counted row 13 for ann
	b.want(b.events(), one(member(3), 1))
	due, err := b.u.Absences.DueAbsences(b.ctx, b.now.Add(59*time.Second), 10)
	b.must(err)
	if len(due) != 0 {
		b.Errorf("due after 59 s: %+v", due)
	}
	due, err = b.u.Absences.DueAbsences(b.ctx, b.now.Add(time.Minute), 10)
	b.must(err)
	eventlog.SortAbsences(due)
	if len(due) != 2 || due[0].User != ann || due[0].Count != 2 || due[1].User != bob || due[1].Count != 1 {
		b.Fatalf("due after a minute: %+v, want two of ann and one of bob", due)
	}
	due[1].Back = true
	next := b.now.Add(2 * time.Minute)
	for range 2 { // the second time, as after an unknown outcome, nothing happens
		b.must(b.u.Absences.TellDue(b.ctx, slices.Clone(due), next))
	}
	b.want(b.events(), one(ann, 2))
	b.must(b.tell(eventlog.AbsentConsumer, "3", "4", b.absence(ann, 14), b.absence(bob, 14))) // TellDue has deleted bob's row, so bob is told at once
	b.want(b.events(), one(bob, 1))
	if due, err = b.u.Absences.DueAbsences(b.ctx, next, 10); err != nil || len(due) != 1 || due[0].User != ann || due[0].Count != 1 {
		b.Errorf("due in the next minute: %+v, %v; want one of ann", due, err)
	}
	b.must(b.u.Absences.TellDue(b.ctx, due, next.Add(time.Minute)))
	b.want(b.events(), one(ann, 1))
	if due, err = b.u.Absences.DueAbsences(b.ctx, next.Add(time.Minute), 10); err != nil || len(due) != 0 {
		b.Errorf("due at the end: %+v, %v", due, err)
	}
	b.must(b.tell(eventlog.AbsentConsumer, "4", "5", b.absence(ann, 15))) // the row without news was deleted, so ann is told at once
	b.want(b.events(), one(ann, 1))
}
