package storetest

import (
	"fmt"

	"hongbao/chat"
)

func joinedTests() []storeTest {
	return []storeTest{
		{"a membership knows the last entry before it", joinedAfter},
		{"what happens to a member does not begin a new membership", joinedOnce},
		{"a membership begins between the entries of a busy room", joinedBetween},
	}
}

// joined fails the test unless the entry with this seq is the last one before the user's membership. 0: there is none.
func (b *storeBench) joined(room, user string, seq int64) {
	b.Helper()
	st, err := b.Standing(b.ctx, room, user)
	b.must(err)
	if m := b.membership(room, user); st.JoinedSeq != seq || m.JoinedSeq != seq || st.JoinedBefore(seq) || !st.JoinedBefore(seq+1) {
		b.Errorf("%s joined after entry %d by the standing, %d by the membership, want %d", user, st.JoinedSeq, m.JoinedSeq, seq)
	}
}

func joinedAfter(b *storeBench) {
	room := b.room(ann, bob)
	b.joined(room, ann, 0)
	b.joined(room, bob, 0)
	b.say(room, ann)
	if m := b.join(room, cyn); m.JoinedSeq != 1 {
		b.Errorf("joined as %+v", m)
	}
	b.joined(room, cyn, 1)
	b.say(room, ann)
	b.leave(room, cyn)
	if st, err := b.Standing(b.ctx, room, cyn); err != nil || st.JoinedSeq != 0 || st.JoinedBefore(9) {
		b.Errorf("after leaving: %+v, %v", st, err)
	}
	b.say(room, ann)
	b.join(room, cyn)
	b.joined(room, cyn, 3)

	hall := b.privateRoom(ann)
	b.say(hall, ann)
	b.change(b.wanted(chat.Invite, hall, ann, bob, cyn)) // their entries are 2 and 3
	b.joined(hall, bob, 1)
	b.joined(hall, cyn, 1)
	b.change(b.wanted(chat.Kick, hall, ann, bob))
	b.leave(hall, cyn)
	b.change(b.wanted(chat.Invite, hall, ann, bob))
	b.joined(hall, bob, 5)
	b.change(b.wanted(chat.Rejoin, hall, cyn, cyn))
	b.joined(hall, cyn, 6)

	pair := b.direct(ann, bob).Membership.Room.ID
	b.joined(pair, bob, 0)
	b.say(pair, ann)
	b.leave(pair, bob)
	b.direct(bob, ann)
	b.joined(pair, bob, 2)
}

func joinedOnce(b *storeBench) {
	room := b.room(ann)
	b.say(room, ann)
	b.join(room, bob)
	b.say(room, bob)
	b.change(b.giving(chat.Admin, room, ann, bob))
	mute := b.wanted(chat.Mute, room, ann, bob)
	mute.Until = b.now
	b.change(mute)
	b.change(b.giving(chat.Owner, room, ann, bob))
	if _, changed, err := b.Join(b.ctx, b.joining(room, bob)); err != nil || changed {
		b.Errorf("joins again: changed %v, %v", changed, err)
	}
	if _, err := b.Read(b.ctx, room, bob, 2, b.now); err != nil {
		b.Error(err)
	}
	b.joined(room, bob, 1)
	b.joined(room, ann, 0)
}

// joinedBetween lets users join while texts are appended. Each user must count as joined after the entries that were there
// before the Join, and before the user's own text.
func joinedBetween(b *storeBench) {
	room := b.room(ann)
	const users = 12
	drafts := map[string]chat.Draft{}
	for i := range users {
		for k := range 5 {
			drafts[fmt.Sprint(i, k)] = b.draft(room, ann, "noise")
		}
		drafts[member(i)] = b.draft(room, member(i), "mine")
	}
	together(2*users, func(i int) {
		if i >= users {
			for k := range 5 {
				if _, _, err := b.Append(b.ctx, drafts[fmt.Sprint(i-users, k)]); err != nil {
					b.Error(err)
				}
			}
			return
		}
		user := member(i)
		before, err := b.LastSeqs(b.ctx, []string{room})
		if err != nil {
			b.Error(err)
			return
		}
		_, _, err = b.Join(b.ctx, chat.Joining{Room: room, User: user, At: b.now, MaxRooms: 10, MaxMembers: 100})
		if err != nil {
			b.Error(err)
			return
		}
		st, err := b.Standing(b.ctx, room, user)
		if err != nil || st.JoinedSeq < before[room] {
			b.Errorf("%s joined after entry %d, and %d were written before: %v", user, st.JoinedSeq, before[room], err)
		}
		if e, _, err := b.Append(b.ctx, drafts[user]); err != nil || !st.JoinedBefore(e.Seq) {
			b.Errorf("%s joined after entry %d, and then wrote %d: %v", user, st.JoinedSeq, e.Seq, err)
		}
	})
}
