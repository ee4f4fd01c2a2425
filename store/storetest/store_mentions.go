package storetest

import (
	"slices"
	"strings"

	"hongbao/chat"
)

func mentionTests() []storeTest {
	return []storeTest{
		{"a user finds the texts that mention them, page by page", listedMentions},
		{"mentions follow membership, edits and recalls", changedMentions},
		{"a page of mentions is bounded", boundedMentions},
		{"a text that mentions all is found by all members, and stored once", mentionedAll},
		{"mentions of all and of one user are listed together", mixedMentions},
		{"only the owner, admins and the system mention all", forbiddenMentionOfAll},
	}
}

// mention appends a text that mentions the users.
func (b *storeBench) mention(room, from string, users ...string) chat.Entry {
	b.Helper()
	d := b.draft(room, from, "look")
	body, err := chat.Body(chat.Text{Text: "look", Mentions: users})
	b.must(err)
	d.Body, d.Mentions = body, users
	e, _, err := b.Append(b.ctx, d)
	b.must(err)
	return e
}

// wantMentions reads all pages of this size, and compares their entries.
func (b *storeBench) wantMentions(user string, limit int, want ...chat.Entry) {
	b.Helper()
	var got []chat.Entry
	for next, more := "", true; more; more = next != "" {
		page, following, err := b.Mentions(b.ctx, user, next, limit, 0)
		if b.must(err); len(page) > limit {
			b.Fatalf("a page of %d has %d entries", limit, len(page))
		}
		got, next = append(got, page...), following
	}
	same := func(a, b chat.Entry) bool {
		return a.Room == b.Room && a.Seq == b.Seq && string(a.Body) == string(b.Body) && a.From == b.From
	}
	if !slices.EqualFunc(got, want, same) {
		b.Errorf("%s is mentioned in\n%+v, want\n%+v", user, got, want)
	}
}

func listedMentions(b *storeBench) {
	room, other := b.room(ann, bob, cyn), b.room(ann, bob)
	first := b.mention(room, ann, bob, cyn)
	b.say(room, ann)
	second, third := b.mention(other, ann, bob, dan), b.mention(room, cyn, bob)
	for _, limit := range []int{1, 2, 3, 10} {
		b.wantMentions(bob, limit, third, second, first)
	}
	b.Store = b.Reopen()
	b.wantMentions(cyn, 10, first)
	b.wantMentions(ann, 10)
	b.join(other, dan)
	b.wantMentions(dan, 10) // was no member then
	_, _, err := b.Mentions(b.ctx, bob, "made up", 10, 0)
	b.refusedField(err, chat.ErrBadRequest, "next")
}

func changedMentions(b *storeBench) {
	room, other := b.room(ann, bob), b.room(ann, bob)
	first, second := b.mention(room, ann, bob), b.mention(other, ann, bob)
	b.leave(other, bob)
	b.wantMentions(bob, 1, first)
	b.join(other, bob)
	b.wantMentions(bob, 1, second, first)
	b.amend(b.editing(room, ann, first.Seq, "look here"), `{"target":1,"text":"look here"}`)
	entries, _, err := b.Mentions(b.ctx, bob, "", 10, 0)
	b.must(err)
	if len(entries) != 2 || !strings.Contains(string(entries[1].Body), `"text":"look here"`) {
		b.Errorf("an edited text is %+v", entries)
	}
	b.amend(b.amending(chat.KindRecall, room, ann, first.Seq), `{"target":1}`)
	b.wantMentions(bob, 10, second)
	b.change(b.wanted(chat.DeleteRoom, other, ann))
	b.wantMentions(bob, 10)
}

// mentionAll appends a text that mentions all members.
func (b *storeBench) mentionAll(room, from string) chat.Entry {
	b.Helper()
	e, _, err := b.Append(b.ctx, b.toAll(room, from))
	b.must(err)
	return e
}

// toAll returns the draft of a text that mentions all members.
func (b *storeBench) toAll(room, from string) chat.Draft {
	b.Helper()
	d := b.draft(room, from, "all")
	body, err := chat.Body(chat.Text{Text: "look, all", MentionAll: true})
	b.must(err)
	d.Body, d.MentionAll = body, true
	return d
}

func mentionedAll(b *storeBench) {
	room, other := b.room(ann, bob, cyn), b.room(ann, bob)
	first, second := b.mentionAll(room, ann), b.mentionAll(other, ann)
	b.wantMentions(bob, 10, second, first)
	b.wantMentions(cyn, 10, first)
	b.wantMentions(ann, 10) // the sender
	b.wantMentions(dan, 10)
	b.join(room, dan)
	b.wantMentions(dan, 10) // came later
	third := b.mentionAll(room, ann)
	b.wantMentions(dan, 10, third)
	for _, limit := range []int{1, 2, 3} {
		b.wantMentions(bob, limit, third, second, first)
	}
	b.block(cyn, ann)
	b.wantMentions(cyn, 10)
	b.wantMentions(cyn, 1)
	b.leave(other, bob)
	b.wantMentions(bob, 1, third, first)
	b.Store = b.Reopen()
	b.amend(b.amending(chat.KindRecall, room, ann, first.Seq), `{"target":1}`)
	b.wantMentions(bob, 10, third)
	b.change(b.wanted(chat.DeleteRoom, room, ann))
	b.wantMentions(bob, 10)
}

func mixedMentions(b *storeBench) {
	room, other := b.room(ann, bob), b.room(ann, bob)
	var newest []chat.Entry
	for range 4 {
		newest = slices.Insert(newest, 0, b.mention(room, ann, bob))
		newest = slices.Insert(newest, 0, b.mentionAll(room, ann))
		newest = slices.Insert(newest, 0, b.mentionAll(other, ann))
	}
	for limit := 1; limit <= len(newest)+1; limit++ {
		b.wantMentions(bob, limit, newest...)
	}
}

func forbiddenMentionOfAll(b *storeBench) {
	room := b.room(ann, bob, cyn)
	_, _, err := b.Append(b.ctx, b.toAll(room, bob))
	b.refusedField(err, chat.ErrForbidden, "mention_all")
	b.change(b.giving(chat.Admin, room, ann, cyn))
	byAdmin, bySystem := b.mentionAll(room, cyn), b.mentionAll(room, chat.System.ID)
	b.wantMentions(bob, 10, bySystem, byAdmin)
}

func boundedMentions(b *storeBench) {
	room := b.room(ann, bob)
	var newest []chat.Entry
	for range 3 {
		newest = slices.Insert(newest, 0, b.mention(room, ann, bob))
	}
	page, next, err := b.Mentions(b.ctx, bob, "", 10, 2*len(newest[0].Body))
	if b.must(err); len(page) != 2 || next == "" {
		b.Errorf("%d entries with the bodies of two, next %q", len(page), next)
	}
	page, next, err = b.Mentions(b.ctx, bob, next, 10, 1)
	if b.must(err); len(page) != 1 || page[0].Seq != newest[2].Seq || next != "" {
		b.Errorf("then %+v, next %q", page, next)
	}
}
