package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hongbao/chat"
)

func eraseTests() []storeTest {
	return []storeTest{
		{"an erased user has no name and no texts", erasedWithTexts},
		{"an erasure may leave the texts", erasedNamesOnly},
		{"an erasure asks for the texts later", erasedLater},
		{"an erased user never comes back", erasedForGood},
		{"an erasure goes through long rooms in steps, also those that were deleted", erasedInSteps},
		{"a legal hold stops an erasure", erasureHeld},
		{"legal holds are listed", holdsListed},
	}
}

// eraser erases users by the steps that a store takes.
type eraser struct {
	testing.TB
	store chat.Store
	at    time.Time
	ids   int
}

func (e *eraser) newID(time.Time) string {
	e.ids++
	return fmt.Sprintf("erasing-%05d", e.ids)
}

// step takes one step.
func (e *eraser) step(user string) chat.Erased {
	e.Helper()
	done, err := e.store.EraseStep(e.Context(), chat.ErasureStep{User: user, At: e.at, NewID: e.newID})
	noError(e, err)
	return done
}

// steps takes steps until the erasure is done, or waits for something else than the end of commands. It returns all that the steps have
// returned.
func (e *eraser) steps(user string) (all []chat.Erased) {
	e.Helper()
	for range 1000 {
		done := e.step(user)
		if done.Found {
			all = append(all, done)
			continue
		}
		now, err := e.store.Erasure(e.Context(), user)
		noError(e, err)
		if now.Waits != chat.WaitsForCommands {
			return all
		}
		e.at = now.AskedAt.Add(time.Hour)
	}
	e.Fatal("the erasure does not end")
	return nil
}

// erase erases a user. It fails the test if the erasure does not come to its end.
func (e *eraser) erase(user string, texts bool) (all []chat.Erased) {
	e.Helper()
	_, err := e.store.BeginErasure(e.Context(), chat.NewErasure{User: user, Texts: texts, At: e.at})
	noError(e, err)
	all = e.steps(user)
	if now, err := e.store.Erasure(e.Context(), user); err != nil || now.DoneAt.IsZero() || now.RoomsLeft != 0 || now.Texts != texts {
		e.Fatalf("the erasure of %s: %+v, %v", user, now, err)
	}
	return all
}

func (b *storeBench) eraser() *eraser { return &eraser{TB: b.T, store: b.Store, at: b.tick()} }

// withoutName fails the test if an entry of the room shows a name of the user, or one of the words.
func (b *storeBench) withoutName(room, user string, words ...string) {
	b.Helper()
	for _, e := range b.everything(room) {
		if e.From.ID == user && (e.From.Name != "" || e.From.Avatar != "") {
			b.Errorf("entry %d is from %+v", e.Seq, e.From)
		}
		for _, word := range words {
			if strings.Contains(string(e.Body), word) {
				b.Errorf("entry %d reads %s", e.Seq, e.Body)
			}
		}
	}
}

func erasedWithTexts(b *storeBench) {
	room, private := b.room(bob, ann), b.privateRoom(bob, cyn)
	b.write(room, bob, "quince one")
	b.amend(b.editing(room, bob, 1, "quince two"), `{"target":1,"text":"quince two"}`)
	b.write(room, ann, "quince of ann")
	b.amend(b.reacting(room, bob, 3, "🍐", true), `{"target":3,"emoji":"🍐","on":true,"count":1}`)
	b.amend(b.reacting(room, ann, 3, "🍐", true), `{"target":3,"emoji":"🍐","on":true,"count":2}`)
	b.amend(b.reacting(room, bob, 1, "🍐", true), `{"target":1,"emoji":"🍐","on":true,"count":1}`)
	b.greet(room, bob, "quince luck")
	_, err := b.Amend(b.ctx, b.reacting(room, bob, 7, "🧧", true)) // b.amend would miss the packet of the entry
	b.must(err)
	b.mention(private, bob, cyn)
	b.index(room, private)
	reports := []chat.NewReport{b.newReport("mine", 1), b.newReport("about", 1), b.newReport("other", 1), b.newReport("quoted", 2)}
	reports[0].By, reports[0].About, reports[2].About = bob, ann, cyn
	for _, r := range reports {
		_, _, err := b.AddReport(b.ctx, r)
		b.must(err)
	}
	_, err = b.ResolveReport(b.ctx, chat.Resolution{Report: reports[1].ID, Outcome: "acted", Cause: "spam", At: b.tick()})
	b.must(err)
	_, err = b.AppealReport(b.ctx, reports[1].ID, chat.Appeal{By: bob, Text: "quince appeal", At: b.tick()})
	b.must(err)
	_, err = b.ResolveReport(b.ctx, chat.Resolution{Report: reports[3].ID, Outcome: "dismissed", Cause: "no_breach", At: b.tick()})
	b.must(err)
	_, err = b.AppealReport(b.ctx, reports[3].ID, chat.Appeal{By: ann, Text: "bob wrote quince", At: b.tick()})
	b.must(err)
	b.must(b.PutPicture(b.ctx, bob, 1, chat.Picture{Hash: []byte("pear"), Data: []byte("jpeg")}, b.tick()))

	all := b.eraser().erase(bob, true)
	left := slices.DeleteFunc(slices.Clone(all), func(e chat.Erased) bool { return e.Left == nil })
	if len(left) != 2 || left[0].Left.NewOwner != ann || left[1].Left.NewOwner != cyn {
		b.Errorf("left %+v", left)
	}
	b.withoutName(room, bob, "quince one", "quince two", "quince luck")
	b.reads(room, 1, silence)
	b.reads(room, 3, `{"text":"quince of ann","reactions":{"🍐":1}}`)
	b.reads(room, 4, `{"target":3,"emoji":"","on":false,"count":0}`)
	var noted []string
	for _, e := range all {
		for _, note := range e.Entries {
			noted = append(noted, string(note.Kind)+string(note.Body))
			if note.From != chat.System || b.history(e.Room)[note.Seq-1].ID != note.ID {
				b.Errorf("noted %+v", note)
			}
		}
	}
	if want := []string{`recall{"target":1}`, `react{"target":3,"emoji":"🍐","on":false,"count":1}`, `react{"target":7,"emoji":"🧧","on":false,"count":0}`, `recall{"target":1}`}; !slices.Equal(noted, want) {
		b.Errorf("noted %q, want %q", noted, want)
	}
	for query, want := range map[string]int{"quince": 1, "luck": 0} {
		if got := b.searched(query, chat.Search{User: ann}, 10); len(got) != want {
			b.Errorf("%q finds %v", query, got)
		}
	}
	b.wantMentions(cyn, 10)
	for i, want := range []string{"", "", "look", ""} {
		if r, err := b.ReportByID(b.ctx, reports[i].ID); err != nil || r.Text != want || r.Reason == "" || r.Appeal.Text != "" {
			b.Errorf("report %d: %+v, %v", i, r, err)
		}
	}
	if _, err := b.Picture(b.ctx, []byte("pear")); !errors.Is(err, chat.ErrNotFound) {
		b.Errorf("the picture: %v", err)
	}
	b.Store = b.Reopen()
	b.withoutName(room, bob, "quince one", "quince two", "quince luck")
}

func erasedNamesOnly(b *storeBench) {
	room := b.room(ann, bob)
	b.write(room, bob, "quince")
	b.amend(b.reacting(room, bob, 1, "🍐", true), `{"target":1,"emoji":"🍐","on":true,"count":1}`)
	b.greet(room, bob, "luck")
	before := b.history(room)
	all := b.eraser().erase(bob, false)
	b.withoutName(room, bob, "luck")
	after := b.history(room)
	if len(after) != len(before) || string(after[0].Body) != string(before[0].Body) || string(after[1].Body) != string(before[1].Body) {
		b.Errorf("after: %+v", after)
	}
	if a := all[len(all)-1]; a.Erasure.Entries != 3 || !a.Packets {
		b.Errorf("the last step: %+v", a)
	}
}

func erasedLater(b *storeBench) {
	room := b.room(ann, bob)
	b.write(room, bob, "quince")
	e := b.eraser()
	e.erase(bob, false)
	b.reads(room, 1, `{"text":"quince"}`)
	e.erase(bob, true)
	b.reads(room, 1, silence)
	if done := e.erase(bob, true); len(done) > 0 {
		b.Errorf("a repeated erasure takes steps: %+v", done)
	}
	if now, err := b.BeginErasure(b.ctx, chat.NewErasure{User: bob, At: b.tick()}); err != nil || !now.Texts || now.DoneAt.IsZero() {
		b.Errorf("an erasure of names after one of texts: %+v, %v", now, err)
	}
	for user, want := range map[string]error{"nobody": chat.ErrNotFound} {
		_, err := b.BeginErasure(b.ctx, chat.NewErasure{User: user, At: b.tick()})
		b.refused(err, want)
		_, err = b.Erasure(b.ctx, user)
		b.refused(err, want)
	}
	if done := e.step("nobody"); done.Found {
		b.Errorf("a step of nobody: %+v", done)
	}
}

func erasedForGood(b *storeBench) {
	room, pair := b.room(ann, bob), b.direct(ann, bob).Membership.Room.ID
	ref := "host-bob"
	_, err := b.PutUserRecord(b.ctx, chat.UserPut{User: bob, Ref: &ref, Custom: []byte(`{"a":1}`)})
	b.must(err)
	b.eraser().erase(bob, true)
	conflict := func(err error) {
		b.Helper()
		if b.refused(err, chat.ErrConflict); err != nil && !strings.Contains(err.Error(), "erased") {
			b.Errorf("%v does not say why", err)
		}
	}
	_, err = b.PutUserRecord(b.ctx, chat.UserPut{User: bob, Name: &ref})
	conflict(err)
	_, err = b.PutUserRecord(b.ctx, chat.UserPut{User: bob, Ref: &ref})
	conflict(err)
	_, err = b.Reinstate(b.ctx, bob)
	conflict(err)
	_, _, err = b.Join(b.ctx, b.joining(room, bob))
	conflict(err)
	_, err = b.PutUserRecord(b.ctx, chat.UserPut{User: cyn, Ref: &ref}) // the ref is free
	b.must(err)
	_, notBefore, err := b.PutUser(b.ctx, chat.Profile{User: person(bob)}, 1<<40)
	if err != nil || notBefore != chat.SuspendedSecond {
		b.Errorf("a token: refused until %d, %v", notBefore, err)
	}
	u, err := b.UserRecord(b.ctx, bob)
	if b.must(err); u.Name != "" || u.Avatar != "" || u.Ref != "" || u.Custom != nil || !u.Erased() || !u.Suspended() {
		b.Errorf("the user is %+v", u)
	}
	if _, err := b.Suspend(b.ctx, bob, b.tick()); err != nil {
		b.Errorf("suspended: %v", err)
	}
	added, err := b.Change(b.ctx, chat.Change{Kind: chat.AddMembers, Room: room, By: chat.System, Users: []string{bob}, At: b.tick(), MaxRooms: 10, MaxMembers: 10})
	if b.must(err); added.Changed || len(added.Refused) != 1 || !errors.Is(added.Refused[0].Err, chat.ErrNotFound) {
		b.Errorf("added: %+v", added)
	}
	_, err = b.Direct(b.ctx, chat.Pairing{ID: b.id("room"), EntryID: b.id("entry"), User: person(cyn), Other: bob, At: b.tick(), MaxRooms: 10})
	b.refused(err, chat.ErrContactRefused)
	_, _, err = b.Append(b.ctx, b.draft(pair, ann, "hello?"))
	b.refused(err, chat.ErrContactRefused)
}

func erasedInSteps(b *storeBench) {
	long, gone := b.room(ann, bob), b.room(ann, bob)
	for i := range 120 {
		b.write(long, []string{bob, bob, ann}[i%3], fmt.Sprintf("quince %d", i))
	}
	b.write(gone, bob, "quince of a deleted room")
	_, err := b.Change(b.ctx, chat.Change{Kind: chat.DeleteRoom, Room: gone, By: person(ann), At: b.tick()})
	b.must(err)
	e := b.eraser()
	first, err := b.BeginErasure(b.ctx, chat.NewErasure{User: bob, Texts: true, At: e.at})
	if b.must(err); first.RoomsLeft != 2 {
		b.Errorf("at first: %+v", first)
	}
	if due, err := b.DueErasures(b.ctx, e.at, 5); err != nil || !slices.Equal(due, []string{bob}) {
		b.Errorf("due: %v, %v", due, err)
	}
	if running, held, err := b.CountErasures(b.ctx, 5); err != nil || running != 1 || held != 0 {
		b.Errorf("%d run, %d held, %v", running, held, err)
	}
	for range 2 {
		if done := e.step(bob); len(done.Entries) > 50 {
			b.Errorf("one step has %d entries", len(done.Entries))
		}
	}
	e.store, b.Store = b.Reopen(), nil // a process that was killed between steps
	b.Store = e.store
	e.steps(bob)
	var recalled int
	for _, entry := range b.history(long) {
		if entry.Kind == chat.KindText && entry.From.ID == bob && string(entry.Body) == silence {
			recalled++
		}
	}
	if recalled != 80 {
		b.Errorf("%d texts are recalled, want 80", recalled)
	}
	b.withoutName(gone, bob, "quince")
}

func erasureHeld(b *storeBench) {
	room := b.room(ann, bob)
	b.write(room, bob, "quince")
	hold := chat.LegalHold{Kind: chat.HoldRoom, ID: room, At: b.tick(), Actor: "key/legal", Reason: "case 5"}
	put := func(h chat.LegalHold) {
		b.Helper()
		got, err := b.PutLegalHold(b.ctx, h)
		if b.must(err); got != h {
			b.Errorf("hold %+v, want %+v", got, h)
		}
	}
	put(hold)
	e := b.eraser()
	refused := func(field string) {
		b.Helper()
		var why *chat.FieldError
		if _, err := b.BeginErasure(b.ctx, chat.NewErasure{User: bob, Texts: true, At: e.at}); !errors.As(err, &why) || !errors.Is(err, chat.ErrConflict) || why.Field != field {
			b.Errorf("refused with %v, want a conflict of the %s", err, field)
		}
	}
	refused("room")
	if u, err := b.UserRecord(b.ctx, bob); err != nil || u.Name == "" || u.Suspended() {
		b.Errorf("the refused erasure has left %+v, %v", u, err)
	}
	b.must(b.DropLegalHold(b.ctx, hold.Kind, hold.ID))
	ofUser := hold
	ofUser.Kind, ofUser.ID = chat.HoldUser, bob
	put(ofUser)
	refused("user")
	again := ofUser
	again.Reason, again.At = "another", b.tick()
	if got, err := b.PutLegalHold(b.ctx, again); err != nil || got != ofUser {
		b.Errorf("the second hold: %+v, %v", got, err)
	}
	b.must(b.DropLegalHold(b.ctx, ofUser.Kind, ofUser.ID))

	_, err := b.BeginErasure(b.ctx, chat.NewErasure{User: bob, Texts: true, At: e.at})
	b.must(err)
	for _, h := range []chat.LegalHold{hold, ofUser} { // an erasure that is under way waits
		put(h)
		if done := e.step(bob); done.Found {
			b.Errorf("a step in spite of %+v: %+v", h, done)
		}
		now, err := b.Erasure(b.ctx, bob)
		if b.must(err); now.Waits != chat.WaitsForHold {
			b.Errorf("it waits for %q", now.Waits)
		}
		if due, err := b.DueErasures(b.ctx, e.at, 5); err != nil || len(due) > 0 {
			b.Errorf("due at once: %v, %v", due, err)
		}
		if _, held, err := b.CountErasures(b.ctx, 5); err != nil || held != 1 {
			b.Errorf("%d held, %v", held, err)
		}
		b.reads(room, 1, `{"text":"quince"}`)
		b.must(b.DropLegalHold(b.ctx, h.Kind, h.ID))
	}
	if due, err := b.DueErasures(b.ctx, e.at.Add(time.Minute), 5); err != nil || !slices.Equal(due, []string{bob}) {
		b.Errorf("due a minute later: %v, %v", due, err)
	}
	b.must(b.PutOffErasure(b.ctx, bob, e.at.Add(time.Hour)))
	if due, err := b.DueErasures(b.ctx, e.at.Add(time.Minute), 5); err != nil || len(due) > 0 {
		b.Errorf("put off, and due: %v, %v", due, err)
	}
	e.steps(bob)
	b.reads(room, 1, silence)
}

func holdsListed(b *storeBench) {
	b.known(ann, bob)
	room := b.room(ann)
	all := []chat.LegalHold{{Kind: chat.HoldRoom, ID: room}, {Kind: chat.HoldUser, ID: ann}, {Kind: chat.HoldUser, ID: bob}}
	for i := range all {
		all[i].At, all[i].Actor, all[i].Reason = b.tick(), "key/legal", fmt.Sprint("case ", i)
		_, err := b.PutLegalHold(b.ctx, all[i])
		b.must(err)
	}
	var got []chat.LegalHold
	for q := (chat.LegalHoldQuery{Limit: 2}); ; {
		page, more, err := b.LegalHolds(b.ctx, q)
		b.must(err)
		if got = append(got, page...); more == "" {
			break
		}
		q.Next = more
	}
	if !slices.Equal(got, all) {
		b.Errorf("listed %+v, want %+v", got, all)
	}
	if page, _, err := b.LegalHolds(b.ctx, chat.LegalHoldQuery{Kind: chat.HoldUser, Limit: 10}); err != nil || !slices.Equal(page, all[1:]) {
		b.Errorf("of users: %+v, %v", page, err)
	}
	for _, h := range []chat.LegalHold{{Kind: chat.HoldUser, ID: "nobody"}, {Kind: chat.HoldRoom, ID: "nowhere"}} {
		_, err := b.PutLegalHold(b.ctx, h)
		b.refused(err, chat.ErrNotFound)
	}
}
