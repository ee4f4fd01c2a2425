package storetest

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"hongbao/redpacket"
)

func grabTests() []poolTest {
	return []poolTest{
		{"Grab/missing until loaded", grabMissing},
		{"Grab/lowest share first until the last", grabLowestFirst},
		{"Grab/a share once given is Yours before any other check", grabYoursFirst},
		{"Grab/the first reason to refuse counts", grabReasonsInOrder},
		{"Grab/several users in one call, and one twice", grabTogether},
		{"Grab/many packets and users in one call", grabMany},
		{"Grab/the last share makes the packet due", grabLastIsDue},
		{"Grab/100 at once", grabAtOnce},
	}
}

func grabMissing(b *poolBench) {
	i := b.packet(1)
	b.want("never loaded", b.ask(i, "u", redpacket.MayGrab), redpacket.Answer{Decision: redpacket.Missing})
	b.load(i)
	b.grab(i, "u")
}

func grabLowestFirst(b *poolBench) {
	i := b.loaded(3)
	for share := range 3 {
		b.want("grab", b.ask(i, "u"+strconv.Itoa(share), redpacket.MayGrab),
			redpacket.Answer{Decision: redpacket.Granted, Share: share, Taken: share + 1, Last: share == 2})
	}
	b.want("after the last share", b.ask(i, "late", redpacket.MayGrab), redpacket.Answer{Decision: redpacket.IsEmpty, Taken: 3})
	b.wantHolders("after all", i, "u0", "u1", "u2")
}

func grabYoursFirst(b *poolBench) {
	i := b.loaded(1)
	b.grab(i, "u")
	yours := redpacket.Answer{Decision: redpacket.Yours, Share: 0, Taken: 1}
	for _, may := range []redpacket.May{redpacket.MayGrab, redpacket.NotMember, redpacket.Denied} {
		b.want("empty", b.ask(i, "u", may), yours)
	}
	b.close(i, redpacket.CloseDue)
	for _, may := range []redpacket.May{redpacket.MayGrab, redpacket.NotMember, redpacket.Denied} {
		b.want("closed", b.ask(i, "u", may), yours)
	}
	late := b.packet(2)
	late.Deadline, late.Grants = b.Now(), []redpacket.Grant{{User: "u", Share: 0}}
	b.load(late)
	b.want("late", b.ask(late, "u", redpacket.MayGrab), yours)
}

// grabReasonsInOrder tries every possible combination of reasons to refuse a grab. The answer must name the reason that comes
// first: outsider, closed, early, late, empty, denied, busy.
func grabReasonsInOrder(b *poolBench) {
	for reasons := range 1 << 7 {
		has := func(bit int) bool { return reasons&(1<<bit) != 0 }
		outsider, closed, late, empty, denied, busy, early := has(0), has(1), has(2), has(3), has(4), has(5), has(6)
		if outsider && denied {
			continue // one attempt cannot be both
		}
		i := b.packet(1)
		want := redpacket.Answer{Decision: redpacket.Granted, Taken: 1, Last: true}
		if early {
			i.OpensAt = b.Now().Add(soon)
		}
		if late {
			i.Deadline = b.Now()
		}
		if empty {
			i.Grants = []redpacket.Grant{{User: "winner", Share: 0}}
		} else {
			want.Taken = 0
		}
		b.load(i)
		if closed {
			why := redpacket.CloseDue
			if !empty && !late {
				why = redpacket.CloseCancel
			}
			b.close(i, why)
		}
		if busy {
			b.fillOutbox(i.Ref)
		}
		may := redpacket.MayGrab
		want.Last = false
		switch {
		case outsider:
			may, want.Decision = redpacket.NotMember, redpacket.Outsider
		case closed && empty:
			want.Decision, want.Reason = redpacket.IsClosed, redpacket.Drained
		case closed && late:
			want.Decision, want.Reason = redpacket.IsClosed, redpacket.Expired
		case closed:
			want.Decision, want.Reason = redpacket.IsClosed, redpacket.Cancelled
		case early:
			want.Decision = redpacket.NotYet
		case late:
			want.Decision = redpacket.IsLate
		case empty:
			want.Decision = redpacket.IsEmpty
		case denied:
			want.Decision = redpacket.IsDenied
		case busy:
			want.Decision = redpacket.Busy
		default:
			want.Taken, want.Last = 1, true
		}
		if denied {
			may = redpacket.Denied
		}
		when := fmt.Sprintf("outsider=%t closed=%t early=%t late=%t empty=%t denied=%t busy=%t", outsider, closed, early, late, empty, denied, busy)
		b.want(when, b.ask(i, "u", may), want)
		b.ack(b.unsettled(0)...)
	}
}

// fillOutbox fills the outbox of the packet's partition with claims of another packet in that partition.
func (b *poolBench) fillOutbox(r redpacket.Ref) {
	b.Helper()
	i := b.packet(b.OutboxCap)
	i.Partition = r.Partition
	b.load(i)
	users := make([]string, b.OutboxCap)
	for n := range users {
		users[n] = "filler-" + strconv.Itoa(n)
	}
	b.grab(i, users...)
}

func grabTogether(b *poolBench) {
	i := b.loaded(9)
	var attempts []redpacket.Attempt
	for _, user := range []string{"a", "b", "a"} {
		attempts = append(attempts, redpacket.Attempt{Ref: i.Ref, User: user})
	}
	got := b.call(attempts...)
	b.want("the first", got[0], redpacket.Answer{Decision: redpacket.Granted, Share: 0, Taken: 1})
	b.want("the next", got[1], redpacket.Answer{Decision: redpacket.Granted, Share: 1, Taken: 2})
	b.want("the first again", got[2], redpacket.Answer{Decision: redpacket.Yours, Share: 0, Taken: 2})
	b.wantHolders("after all", i, "a", "b", "", "", "", "", "", "", "")
}

func grabMany(b *poolBench) {
	x, y, z := b.loaded(2), b.packet(5), b.packet(1)
	y.Partition = x.Partition // two packets in one outbox
	b.load(y)
	at := func(i redpacket.Image, user string, may redpacket.May) redpacket.Attempt {
		return redpacket.Attempt{Ref: i.Ref, User: user, May: may}
	}
	got := b.call(
		at(x, "a", redpacket.MayGrab), at(y, "a", redpacket.MayGrab), at(x, "a", redpacket.MayGrab),
		at(z, "a", redpacket.MayGrab), at(y, "b", redpacket.NotMember), at(y, "b", redpacket.MayGrab),
		at(x, "b", redpacket.MayGrab), at(x, "c", redpacket.MayGrab))
	for n, want := range []redpacket.Answer{
		{Decision: redpacket.Granted, Share: 0, Taken: 1},
		{Decision: redpacket.Granted, Share: 0, Taken: 1},
		{Decision: redpacket.Yours, Share: 0, Taken: 1},
		{Decision: redpacket.Missing},
		{Decision: redpacket.Outsider, Taken: 1},
		{Decision: redpacket.Granted, Share: 1, Taken: 2},
		{Decision: redpacket.Granted, Share: 1, Taken: 2, Last: true},
		{Decision: redpacket.IsEmpty, Taken: 2},
	} {
		b.want("attempt "+strconv.Itoa(n), got[n], want)
	}
	if got[0].Entry != got[6].Entry || got[1].Entry != got[5].Entry {
		b.Errorf("the winners of a packet in one call have several entries: %+v", got)
	}
	b.ack(redpacket.Claim{Ref: x.Ref, User: "a", Share: 0, Entry: got[0].Entry}, redpacket.Claim{Ref: x.Ref, User: "b", Share: 1, Entry: got[0].Entry})
	if left := b.unsettled(0); len(left) != 2 || left[0].Ref != y.Ref || left[1].Ref != y.Ref {
		b.Errorf("when one packet's entry is gone, the outbox holds %+v", left)
	}
	if next := b.grab(y, "c"); next[0].Entry == got[1].Entry {
		b.Errorf("two calls share the entry %q", next[0].Entry)
	}
}

func grabLastIsDue(b *poolBench) {
	soon, later := b.packet(1), b.loaded(1)
	soon.Deadline = b.Now().Add(redpacket.CloseLease / 2)
	b.load(soon)
	b.grab(soon, "u")
	b.grab(later, "u")
	b.wantDue("at once")
	b.pass(redpacket.CloseLease / 2)
	b.wantDue("at the deadline", soon)
	b.pass(redpacket.CloseLease / 2)
	b.wantDue("after the lease", soon, later)
}

// grabAtOnce lets 100 users grab 50 shares concurrently. Each user grabs in several goroutines, in calls shared with
// another user.
func grabAtOnce(b *poolBench) {
	const users, shares, each = 100, 50, 3
	i := b.loaded(shares)
	answers := make([][]redpacket.Answer, users*each)
	var wg sync.WaitGroup
	for n := range answers {
		wg.Go(func() {
			me, neighbour := strconv.Itoa(n%users), strconv.Itoa((n+1)%users)
			got, err := b.Pool.Grab(context.Background(), []redpacket.Attempt{{Ref: i.Ref, User: me}, {Ref: i.Ref, User: neighbour}})
			if err != nil {
				b.Errorf("grab: %v", err)
			}
			answers[n] = got
		})
	}
	wg.Wait()
	owner, last := map[int]string{}, 0
	for n, got := range answers {
		for k, ans := range got {
			user := strconv.Itoa((n + k) % users)
			switch ans.Decision {
			case redpacket.Granted:
				if other, twice := owner[ans.Share]; twice {
					b.Errorf("share %d given to %s and to %s", ans.Share, other, user)
				}
				owner[ans.Share] = user
				if ans.Last {
					last++
				}
			case redpacket.Yours, redpacket.IsEmpty:
			default:
				b.Errorf("%s: %+v", user, ans)
			}
		}
	}
	holders := make([]string, shares)
	seen := map[string]bool{}
	for share := range holders {
		holders[share] = owner[share]
		seen[owner[share]] = true
	}
	if len(owner) != shares || len(seen) != shares || last != 1 {
		b.Fatalf("%d shares to %d users, %d times the last; want %d, %d, 1", len(owner), len(seen), last, shares, shares)
	}
	b.wantHolders("afterwards", i, holders...)
	if got := len(b.unsettled(0)); got != shares {
		b.Errorf("%d claims in the outbox, want %d", got, shares)
	}
}
