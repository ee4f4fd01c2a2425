package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/chat/files"
)

func retainTests() []storeTest {
	return []storeTest{
		{"a text that is too old is retired", retired},
		{"a room may keep texts for another time than its kind", retiredByRoom},
		{"the retention goes through long rooms in steps, also those that were deleted", retiredInSteps},
		{"a legal hold stops the retention", retentionHeld},
		{"nobody edits a retired text or reacts to it, and a recall of it changes nothing", retiredStays},
		{"rooms with old texts are found page by page", oldTextsFound},
	}
}

// aged is the body of a retired text.
const aged = `{"recalled":true,"retired":true}`

// retire takes steps in all rooms until no text is too old at that time. It returns how many texts they have retired.
func retire(t testing.TB, s chat.Store, days chat.KeptDays, at time.Time) (texts int) {
	t.Helper()
	for last, more := "", true; more; more = last != "" {
		rooms, next, err := s.OldTexts(t.Context(), chat.RetentionQuery{After: last, Limit: 2, Days: days, At: at})
		noError(t, err)
		last = next
		for _, room := range rooms {
			for step := (chat.Retired{More: true}); step.More; texts += step.Texts {
				step, err = s.Retire(t.Context(), chat.RetireStep{Room: room.Room, Days: days, At: at})
				noError(t, err)
			}
		}
	}
	return texts
}

// retires removes texts after n days in rooms of all kinds, and compares how many.
func (b *storeBench) retires(n int, want int) {
	b.Helper()
	if got := retire(b.T, b.Store, chat.KeptDays{Public: n, Private: n, Direct: n}, b.now); got != want {
		b.Errorf("%d texts are retired, want %d", got, want)
	}
}

func (b *storeBench) days(n int) { b.now = b.now.AddDate(0, 0, n) }

func retired(b *storeBench) {
	room := b.room(ann, bob, cyn)
	b.write(room, bob, "quince one")
	b.amend(b.editing(room, bob, 1, "quince two"), `{"target":1,"text":"quince two"}`)
	b.amend(b.reacting(room, ann, 1, "🍐", true), `{"target":1,"emoji":"🍐","on":true,"count":1}`)
	b.write(room, bob, "quince of another time")
	b.amend(b.amending(chat.KindRecall, room, bob, 4), `{"target":4}`)
	b.greet(room, bob, "quince luck")
	_, err := b.Amend(b.ctx, b.reacting(room, ann, 6, "🧧", true)) // b.amend would miss the packet of the entry
	b.must(err)
	b.mention(room, bob, ann)
	b.mentionAll(room, ann)
	f := b.ready(room, bob, 1)
	_, err = b.sendFiles(room, bob, f)
	b.must(err)
	b.index(room)
	b.days(10)
	late := b.write(room, bob, "quince of today")
	b.index(room)
	b.retires(11, 0)
	b.retires(9, 4)
	b.retires(9, 0)
	for seq, want := range map[int64]string{1: aged, 2: `{"target":1,"recalled":true}`, 3: `{"target":1,"emoji":"🍐","on":true,"count":1}`, 4: silence, 8: aged, 9: aged, 10: aged, late.Seq: `{"text":"quince of today"}`} {
		b.reads(room, seq, want)
	}
	if all := b.history(room); len(all) != int(late.Seq) || all[0].From.Name == "" || !slices.Contains([]string{
		`{"greeting":"quince luck","reactions":{"🧧":1}}`, `{"reactions":{"🧧":1},"greeting":"quince luck"}`}, string(all[5].Body)) {
		b.Errorf("history %+v", all)
	}
	if got := b.searched("quince", chat.Search{User: ann}, 10); len(got) != 2 { // the greeting and today's text
		b.Errorf("found %v", got)
	}
	b.wantMentions(ann, 10)
	b.wantMentions(bob, 10)
	b.fileIs(f, files.Dropped, 0)
	reply := b.reply(room, 1)
	if _, _, err := b.Append(b.ctx, reply); err != nil {
		b.Errorf("a reply to a retired text: %v", err)
	}
	b.Store = b.Reopen()
	b.reads(room, 1, aged)
}

func retiredByRoom(b *storeBench) {
	public, private, direct := b.room(ann, bob), b.privateRoom(ann, bob), b.direct(ann, bob).Membership.Room.ID
	rooms := []string{public, private, direct}
	for _, room := range rooms {
		b.write(room, ann, "quince")
	}
	b.index(rooms...)
	b.days(10)
	reads := func(days chat.KeptDays, want ...string) {
		b.Helper()
		retire(b.T, b.Store, days, b.now)
		for i, room := range rooms {
			all := b.history(room)
			if got := string(all[len(all)-1].Body); got != want[i] {
				b.Errorf("room %d reads %s, want %s", i, got, want[i])
			}
		}
	}
	const kept = `{"text":"quince"}`
	reads(chat.KeptDays{Private: 11}, kept, kept, kept)
	set := func(room string, days int) {
		b.Helper()
		got, err := b.SetRetention(b.ctx, room, days)
		if b.must(err); got.Room != room || got.Days != days || got.Held {
			b.Errorf("set %+v", got)
		}
	}
	set(public, 9)
	set(private, 30)
	reads(chat.KeptDays{Private: 5, Direct: 5}, aged, kept, aged)
	set(private, 0)
	set(public, 20)
	reads(chat.KeptDays{Private: 5, Direct: 5}, aged, aged, aged)
	if n := b.IndexRows(); n != 0 {
		b.Errorf("the index has %d rows of retired texts", n)
	}
	if r, err := b.RoomRetention(b.ctx, public); err != nil || r != (chat.RoomRetention{Room: public, Kind: chat.Public, Days: 20, Seq: 1}) {
		b.Errorf("retention %+v, %v", r, err)
	}
	_, err := b.SetRetention(b.ctx, "nowhere", 1)
	b.refused(err, chat.ErrNotFound)
	_, err = b.RoomRetention(b.ctx, "nowhere")
	b.refused(err, chat.ErrNotFound)
	_, err = b.Retire(b.ctx, chat.RetireStep{Room: "nowhere", At: b.now})
	b.refused(err, chat.ErrNotFound)
}

func retiredInSteps(b *storeBench) {
	long, gone := b.room(ann, bob), b.room(ann, bob)
	for i := range 120 {
		b.write(long, bob, fmt.Sprintf("quince %d", i))
	}
	b.write(gone, bob, "quince of a deleted room")
	_, err := b.Change(b.ctx, chat.Change{Kind: chat.DeleteRoom, Room: gone, By: person(ann), At: b.tick()})
	b.must(err)
	b.days(10)
	week := chat.KeptDays{Public: 7, Private: 7, Direct: 7}
	for _, want := range []int{50, 50} {
		if step, err := b.Retire(b.ctx, chat.RetireStep{Room: long, Days: week, At: b.now}); err != nil || step.Texts != want || !step.More {
			b.Errorf("a step: %+v, %v; want %d texts", step, err, want)
		}
	}
	b.Store = b.Reopen() // a process that was killed between steps
	if got := retire(b.T, b.Store, week, b.now); got != 21 {
		b.Errorf("%d texts are retired at last, want 21", got)
	}
	b.withoutName(gone, "", "quince")
	b.withoutName(long, "", "quince")
}

func retentionHeld(b *storeBench) {
	room, other := b.room(ann, bob), b.room(ann, cyn)
	b.write(room, ann, "quince")
	b.write(other, ann, "quince")
	b.leave(room, bob)
	b.days(10)
	for _, h := range []chat.LegalHold{{Kind: chat.HoldRoom, ID: room}, {Kind: chat.HoldUser, ID: bob}} {
		h.At, h.Actor, h.Reason = b.tick(), "key/legal", "case 5"
		_, err := b.PutLegalHold(b.ctx, h)
		b.must(err)
		retire(b.T, b.Store, chat.KeptDays{Public: 7}, b.now)
		b.reads(room, 1, `{"text":"quince"}`)
		b.reads(other, 1, aged)
		if step, err := b.Retire(b.ctx, chat.RetireStep{Room: room, Days: chat.KeptDays{Public: 7}, At: b.now}); err != nil || step != (chat.Retired{Held: true}) {
			b.Errorf("a step in spite of %+v: %+v, %v", h, step, err)
		}
		if r, err := b.RoomRetention(b.ctx, room); err != nil || !r.Held {
			b.Errorf("retention %+v, %v", r, err)
		}
		b.must(b.DropLegalHold(b.ctx, h.Kind, h.ID))
	}
	b.retires(7, 1)
}

func retiredStays(b *storeBench) {
	room := b.room(ann, bob)
	b.write(room, bob, "quince")
	b.days(10)
	b.retires(7, 1)
	edit := b.editing(room, bob, 1, "back")
	edit.Window = 100 * 24 * time.Hour
	_, err := b.Amend(b.ctx, edit)
	b.refused(err, chat.ErrConflict)
	_, err = b.Amend(b.ctx, b.reacting(room, ann, 1, "🍐", true))
	b.refused(err, chat.ErrConflict)
	b.idleAmend(b.amending(chat.KindRecall, room, ann, 1), 1)
	b.reads(room, 1, aged)
	if all := b.eraser().erase(bob, true); len(all) == 0 {
		b.Error("the author is erased without a step")
	}
	b.withoutName(room, bob, "quince")
	b.reads(room, 1, aged)
}

func oldTextsFound(b *storeBench) {
	var rooms []string
	for range 5 {
		room := b.room(ann)
		b.write(room, ann, "quince")
		rooms = append(rooms, room)
	}
	slices.Sort(rooms)
	b.days(10)
	b.write(rooms[1], ann, "new")
	_, err := b.SetRetention(b.ctx, rooms[2], 100)
	b.must(err)
	var found []string
	for last, more := "", true; more; more = last != "" {
		page, next, err := b.OldTexts(b.ctx, chat.RetentionQuery{After: last, Limit: 2, Days: chat.KeptDays{Public: 9}, At: b.now})
		if b.must(err); len(page) > 2 {
			b.Fatalf("a page of 2 has %d rooms", len(page))
		}
		for _, r := range page {
			if found = append(found, r.Room); r.Late < 23*time.Hour || r.Late > 25*time.Hour {
				b.Errorf("late by %v", r.Late)
			}
		}
		last = next
	}
	if want := slices.Delete(slices.Clone(rooms), 2, 3); !slices.Equal(found, want) {
		b.Errorf("found %v, want %v", found, want)
	}
	_, err = b.SetRetention(b.ctx, rooms[3], 9)
	b.must(err)
	if page, _, err := b.OldTexts(b.ctx, chat.RetentionQuery{Limit: 10, At: b.now}); err != nil || len(page) != 1 || page[0].Room != rooms[3] {
		b.Errorf("only one room does not keep its texts for ever, and found: %v, %v", page, err)
	}
}
