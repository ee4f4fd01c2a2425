package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"hongbao/chat"
)

// StoreUnderTest is a Store, with functions for changes that no single command makes.
type StoreUnderTest struct {
	chat.Store
	// Stand sets the standing of a present or former member: out, banned, muted, or in another role. It appends no
	// entry, checks no rule, and does not update the room's number of members.
	Stand func(room, user string, s chat.Standing)
	// Reopen closes the engine and opens it again with its data.
	Reopen func() chat.Store
	// IndexRows counts the rows of the index in which Search looks. It is not called after Reopen.
	IndexRows func() int
}

// TestStore checks that an engine keeps the contract of chat.Store.
func TestStore(t *testing.T, open func(t *testing.T) StoreUnderTest) {
	all := slices.Concat(roomTests(), listingTests(), joinTests(), leaveTests(), appendTests(), historyTests(), readTests(), prefsTests(), reportTests(), mentionTests(), searchTests(),
		replyTests(), userTests(), recordTests(), hostRoomTests(), bulkTests(), deviceCodeTests(), pictureTests(), fileTests(), directTests(), contactTests(), inviteTests(), kickTests(), governTests(), systemTests(), deleteTests(), amendTests(), amendRefusedTests(), amendCrowdTests(), recallTests(),
		foldTests(), crowdTests(), joinedTests(), linkTests(), subscriptionTests(), ruleTests(), eraseTests(), retainTests(), ownTests())
	for _, test := range all {
		t.Run(test.name, func(t *testing.T) {
			b := &storeBench{T: t, StoreUnderTest: open(t), ctx: t.Context(), now: time.UnixMilli(1_700_000_000_000).UTC()}
			test.run(b)
		})
	}
}

type storeTest struct {
	name string
	run  func(b *storeBench)
}

// storeBench holds an engine under test. Its helpers fail the test if the engine fails.
type storeBench struct {
	*testing.T
	StoreUnderTest
	ctx context.Context
	now time.Time // tick advances it by a second
	ids int
}

const (
	ann = "ann"
	bob = "bob"
	cyn = "cyn"
	dan = "dan"
)

func person(id string) chat.User {
	return chat.User{ID: id, Name: "Name of " + id, Avatar: "https://example.org/" + id}
}

func (b *storeBench) must(err error) {
	b.Helper()
	noError(b, err)
}

// refused fails the test unless err is the expected refusal.
func (b *storeBench) refused(err, want error) {
	b.Helper()
	if !errors.Is(err, want) {
		b.Errorf("got error %v, want %v", err, want)
	}
}

func (b *storeBench) id(of string) string {
	b.ids++
	return fmt.Sprintf("%s-%05d", of, b.ids)
}

func (b *storeBench) tick() time.Time {
	b.now = b.now.Add(time.Second)
	return b.now
}

// known creates the users in the store.
func (b *storeBench) known(users ...string) {
	b.Helper()
	for _, u := range users {
		_, _, err := b.PutUser(b.ctx, chat.Profile{User: person(u)}, 0)
		b.must(err)
	}
}

// newRoom returns a public room of the owner. It is not created yet.
func (b *storeBench) newRoom(owner string, members ...string) chat.NewRoom {
	id := b.id("room")
	return chat.NewRoom{
		ID: id, Name: "Name of " + id, Kind: chat.Public, Owner: person(owner), Members: members,
		Key: "key-of-" + id, Hash: []byte("content of " + id), At: b.tick(), MaxRooms: 100,
	}
}

func (b *storeBench) create(r chat.NewRoom) chat.Membership {
	b.Helper()
	b.known(append(r.Members, r.Owner.ID)...)
	m, dup, err := b.CreateRoom(b.ctx, r)
	b.must(err)
	if dup {
		b.Fatal("a new room is a dup")
	}
	return m
}

// room creates a public room and returns its id.
func (b *storeBench) room(owner string, members ...string) string {
	b.Helper()
	return b.create(b.newRoom(owner, members...)).Room.ID
}

func (b *storeBench) privateRoom(owner string, members ...string) string {
	b.Helper()
	r := b.newRoom(owner, members...)
	r.Kind = chat.Private
	return b.create(r).Room.ID
}

func (b *storeBench) joining(room, user string) chat.Joining {
	return chat.Joining{Room: room, User: user, At: b.tick(), MaxRooms: 100, MaxMembers: 1000}
}

func (b *storeBench) join(room, user string) chat.Membership {
	b.Helper()
	m, changed, err := b.Join(b.ctx, b.joining(room, user))
	b.must(err)
	if !changed {
		b.Fatalf("%s was in already", user)
	}
	return m
}

func (b *storeBench) leave(room, user string) chat.Left {
	b.Helper()
	left, err := b.Leave(b.ctx, chat.Leaving{
		Room: room, User: person(user), At: b.tick(), EntryIDs: [2]string{b.id("entry"), b.id("entry")},
	})
	b.must(err)
	return left
}

// draft returns a text that is not appended yet.
func (b *storeBench) draft(room, from, text string) chat.Draft {
	id := b.id("entry")
	body, err := chat.Body(chat.Text{Text: text})
	b.must(err)
	return chat.Draft{
		ID: id, Room: room, From: person(from), Kind: chat.KindText, Key: "key-of-" + id,
		Hash: []byte(room + text), Body: body, At: b.tick(),
	}
}

func (b *storeBench) say(room, from string) chat.Entry {
	b.Helper()
	e, dup, err := b.Append(b.ctx, b.draft(room, from, "said"))
	b.must(err)
	if dup {
		b.Fatal("a new entry is a dup")
	}
	return e
}

func (b *storeBench) membership(room, user string) chat.Membership {
	b.Helper()
	m, err := b.Membership(b.ctx, room, user)
	b.must(err)
	return m
}

// standing returns the user's standing without JoinedSeq, which joinedTests check.
func (b *storeBench) standing(room, user string) chat.Standing {
	b.Helper()
	st, err := b.Standing(b.ctx, room, user)
	b.must(err)
	st.JoinedSeq = 0
	return st
}

// history reads all entries of a short room.
func (b *storeBench) history(room string) []chat.Entry {
	b.Helper()
	es, more, err := b.History(b.ctx, room, chat.Page{After: new(int64), Limit: 1000})
	b.must(err)
	if more {
		b.Fatal("the room is longer than the test thinks")
	}
	return es
}

func seqsOf(entries []chat.Entry) []int64 {
	seqs := []int64{}
	for _, e := range entries {
		seqs = append(seqs, e.Seq)
	}
	return seqs
}
