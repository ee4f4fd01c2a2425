package storetest

import (
	"errors"
	"slices"

	"hongbao/chat"
)

func crowdTests() []storeTest {
	return []storeTest{
		{"people come, go, rise and are put out at once", changingCrowd},
		{"a room is deleted while people come and go", deletingCrowd},
		{"a room that is just full is invited into at once", fillingCrowd},
		{"a room is closed to guests while guests come in", closingCrowd},
	}
}

// crowd is a room with an owner and members, and a list of commands of members and others that run concurrently.
type crowd struct {
	*storeBench
	room  string
	steps []func() error
}

func (b *storeBench) crowd() *crowd {
	b.Helper()
	c := &crowd{storeBench: b}
	var in []string
	for i := range 12 {
		b.known(member(i))
		if i < 8 {
			in = append(in, member(i))
		}
	}
	c.room = b.room(ann, in...)
	return c
}

func (c *crowd) joins(user string) {
	j := c.joining(c.room, user)
	c.steps = append(c.steps, func() error { _, _, err := c.Join(c.ctx, j); return err })
}

func (c *crowd) leaves(user string) {
	l := chat.Leaving{Room: c.room, User: person(user), At: c.tick(), EntryIDs: [2]string{c.id("entry"), c.id("entry")}}
	c.steps = append(c.steps, func() error { _, err := c.Leave(c.ctx, l); return err })
}

func (c *crowd) changes(change chat.Change) {
	c.steps = append(c.steps, func() error { _, err := c.Change(c.ctx, change); return err })
}

func (c *crowd) speaks(user string) {
	d := c.draft(c.room, user, "hello")
	c.steps = append(c.steps, func() error { _, _, err := c.Append(c.ctx, d); return err })
}

// busy adds commands about a few users, so that the commands conflict with each other.
func (c *crowd) busy() {
	heir, admin := member(0), member(1)
	c.changes(c.giving(chat.Owner, c.room, ann, heir))
	c.leaves(heir)
	c.changes(c.giving(chat.Admin, c.room, ann, admin))
	c.changes(c.wanted(chat.Kick, c.room, ann, admin))
	c.leaves(admin)
	c.leaves(ann)
	c.joins(ann)
	c.changes(c.wanted(chat.Ban, c.room, ann, member(2)))
	c.changes(c.wanted(chat.Unban, c.room, ann, member(2)))
	c.joins(member(2))
	c.changes(c.wanted(chat.Invite, c.room, member(3), member(8), member(9), member(1)))
	c.changes(c.wanted(chat.Invite, c.room, member(4), member(9), member(8), member(0)))
	c.joins(member(8))
	c.leaves(member(3))
	c.changes(c.wanted(chat.Ban, c.room, ann, member(10))) // a stranger
	c.joins(member(10))
	c.speaks(member(3))
	c.speaks(member(10))
}

// all runs all commands concurrently. Each must succeed or be refused.
func (c *crowd) all() {
	c.Helper()
	together(len(c.steps), func(i int) {
		err := c.steps[i]()
		for _, refusal := range []error{chat.ErrForbidden, chat.ErrNotFound, chat.ErrNotMember, chat.ErrBanned, chat.ErrLimitExceeded, chat.ErrContactRefused} {
			if errors.Is(err, refusal) {
				return
			}
		}
		if err != nil {
			c.Errorf("step %d: %v", i, err)
		}
	})
	c.balanced()
}

// counted checks that the room's number, list and roster of members agree. Exactly one member must be the owner, unless the
// room is empty. The room's seqs must have no gaps.
func (c *crowd) counted() {
	c.Helper()
	r, err := c.Room(c.ctx, c.room)
	c.must(err)
	users, err := c.Roster(c.ctx, c.room, 100)
	c.must(err)
	people, owners := c.people(c.room), 0
	for _, m := range people {
		if m.Role == chat.Owner {
			owners++
		}
		if !slices.Contains(users, m.User.ID) {
			c.Errorf("%s is listed, but in the roster are %v", m.User.ID, users)
		}
	}
	if len(people) != r.Members || len(users) != r.Members || owners != min(1, r.Members) {
		c.Errorf("the room counts %d; listed are %+v with %d owners, in the roster %v", r.Members, people, owners, users)
	}
	for i, e := range c.history(c.room) {
		if e.Seq != int64(i+1) {
			c.Errorf("seq %d at place %d", e.Seq, i+1)
		}
	}
}

func changingCrowd(b *storeBench) {
	for range 8 {
		c := b.crowd()
		c.busy()
		c.all()
		c.counted()
	}
}

func deletingCrowd(b *storeBench) {
	for range 8 {
		c := b.crowd()
		c.busy()
		c.changes(c.wanted(chat.DeleteRoom, c.room, ann))
		c.changes(c.wanted(chat.DeleteRoom, c.room, member(0)))
		c.all()
		c.counted()
		r, err := b.Room(b.ctx, c.room)
		b.must(err)
		for _, user := range []string{ann, member(0), member(2), member(8), member(10), member(11)} {
			if st := b.standing(c.room, user); st.RoomDeleted != (r.Deleted && st.Ever) || r.Deleted && (st.In || st.Visible) {
				b.Errorf("%s stands as %+v to %+v", user, st, r)
			}
		}
		if r.Deleted && r.Members > 0 {
			b.Errorf("%d are in the deleted room", r.Members)
		}
	}
}

// fillingCrowd lets four users enter concurrently, while the room has one free place. Exactly one must succeed.
func fillingCrowd(b *storeBench) {
	for range 5 {
		c := b.crowd() // ann and eight others
		for _, user := range []string{member(8), member(9), member(10)} {
			invitation := c.wanted(chat.Invite, c.room, ann, user)
			invitation.MaxMembers = 10
			c.changes(invitation)
		}
		j := c.joining(c.room, member(11))
		j.MaxMembers = 10
		c.steps = append(c.steps, func() error { _, _, err := c.Join(c.ctx, j); return err })
		c.all()
		c.counted()
		if r, err := b.Room(b.ctx, c.room); err != nil || r.Members != 10 {
			b.Errorf("%d are in, %v; want 10", r.Members, err)
		}
	}
}

// closingCrowd closes a room to guests while guests are invited. No guest may enter after the entry that closes the room.
func closingCrowd(b *storeBench) {
	for range 5 {
		c := b.crowd()
		for i := range 8 {
			guest := chat.GuestPrefix + b.id("guest")
			b.known(guest)
			c.changes(c.wanted(chat.Invite, c.room, ann, guest))
			if i == 3 {
				c.changes(c.setting(c.room, "", new(false)))
			}
		}
		c.all()
		c.counted()
		closed := false
		for _, e := range b.history(c.room) {
			if closed {
				b.Errorf("after the room was closed came %s %s", e.Kind, e.Body)
			}
			closed = closed || e.Kind == chat.KindRoom
		}
		if !closed {
			b.Error("the room was not closed")
		}
	}
}
