package storetest

import (
	"bytes"
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"hongbao/chat"
)

func subscriptionTests() []storeTest {
	return []storeTest{
		{"a push subscription is kept until it is removed", keptSubscriptions},
		{"the oldest push subscriptions make room for new ones", boundedSubscriptions},
		{"a revocation or suspension removes the push subscriptions, and a late command brings none", revokedSubscriptions},
		{"an audience has members that have not read and are not silent, in pages", audiences},
	}
}

// subscription returns the n-th subscription of the user.
func subscription(user string, n int) chat.Subscription {
	return chat.Subscription{
		User: user, Endpoint: fmt.Sprintf("https://push.test/%d", n), P256dh: slices.Repeat([]byte{4}, 65), Auth: slices.Repeat([]byte{byte(n)}, 16),
		At: codeTime.Add(time.Duration(n) * time.Millisecond),
	}
}

// subscribed checks which subscriptions the audience has.
func (b *storeBench) subscribed(a chat.Audience, want ...chat.Subscription) {
	b.Helper()
	if a.Limit == 0 {
		a.Limit = 100
	}
	got, err := b.Subscriptions(b.ctx, a)
	b.must(err)
	slices.SortFunc(want, func(x, y chat.Subscription) int {
		return cmp.Or(strings.Compare(x.User, y.User), bytes.Compare(x.ID(), y.ID()))
	})
	if len(got) != len(want) || len(got) > 0 && !reflect.DeepEqual(got, want) {
		b.Errorf("%+v has the subscriptions %v, want %v", a, got, want)
	}
}

// audience creates a room with a text of cyn, and returns the audience of that text.
func (b *storeBench) audience(members ...string) chat.Audience {
	b.Helper()
	room := b.room(cyn, members...)
	return chat.Audience{Room: room, Seq: b.say(room, cyn).Seq}
}

func keptSubscriptions(b *storeBench) {
	one, two := subscription(ann, 1), subscription(bob, 1)
	b.must(b.PutSubscription(b.ctx, one, 5)) // ann is unknown
	b.must(b.PutSubscription(b.ctx, two, 5))
	both := b.audience(ann, bob)
	b.Store = b.Reopen()
	b.subscribed(both, one, two)

	renewed := one
	renewed.Auth, renewed.At = slices.Repeat([]byte{9}, 16), codeTime.Add(time.Second)
	b.must(b.PutSubscription(b.ctx, renewed, 5))
	b.must(b.DeleteSubscription(b.ctx, one)) // its keys are not the stored ones any more
	b.subscribed(both, renewed, two)
	b.must(b.DeleteSubscription(b.ctx, renewed))
	b.must(b.DeleteSubscription(b.ctx, renewed))
	b.subscribed(both, two)
	b.must(b.DeleteSubscription(b.ctx, chat.Subscription{User: bob, Endpoint: two.Endpoint}))
	b.subscribed(both)
}

func boundedSubscriptions(b *storeBench) {
	b.must(b.PutSubscription(b.ctx, subscription(bob, 1), 2))
	for _, n := range []int{3, 1, 2} {
		b.must(b.PutSubscription(b.ctx, subscription(ann, n), 2))
	}
	all := b.audience(ann, bob, dan)
	b.subscribed(all, subscription(ann, 2), subscription(ann, 3), subscription(bob, 1))
	b.must(b.PutSubscription(b.ctx, subscription(ann, 0), 2)) // the new one is kept, whatever its time
	b.subscribed(all, subscription(ann, 0), subscription(ann, 3), subscription(bob, 1))

	var putting sync.WaitGroup
	for n := range 6 {
		putting.Go(func() {
			if err := b.PutSubscription(b.ctx, subscription(dan, n), 2); err != nil {
				b.Error(err)
			}
		})
	}
	putting.Wait()
	all.Of, all.Limit = []string{dan}, 100
	got, err := b.Subscriptions(b.ctx, all)
	b.must(err)
	if len(got) != 2 {
		b.Errorf("%d subscriptions after six at once, want 2", len(got))
	}
}

func revokedSubscriptions(b *storeBench) {
	both := b.audience(ann, bob)
	b.must(b.PutSubscription(b.ctx, subscription(ann, 1), 5))
	b.must(b.PutSubscription(b.ctx, subscription(bob, 1), 5))
	b.must(b.Revoke(b.ctx, ann, 1))
	b.subscribed(both, subscription(bob, 1))
	b.must(b.PutSubscription(b.ctx, subscription(ann, 2), 5))
	b.must(b.Revoke(b.ctx, ann, 1)) // the same second again: only the subscriptions are removed
	b.subscribed(both, subscription(bob, 1))

	late := subscription(ann, 3)
	b.must(b.Revoke(b.ctx, ann, late.At.Unix()))
	b.refused(b.PutSubscription(b.ctx, late, 5), chat.ErrUnavailable)
	b.subscribed(both, subscription(bob, 1))
	late.At = late.At.Add(time.Second)
	b.must(b.PutSubscription(b.ctx, late, 5))
	_, err := b.Suspend(b.ctx, bob, b.tick())
	b.must(err)
	b.refused(b.PutSubscription(b.ctx, subscription(bob, 2), 5), chat.ErrUnavailable)
	b.subscribed(both, late)
}

func audiences(b *storeBench) {
	const eve, fay = "eve", "fay"
	a := b.audience(ann, bob, dan, eve, fay)
	for _, user := range []string{ann, bob, cyn, dan, eve, fay, "stranger"} {
		b.must(b.PutSubscription(b.ctx, subscription(user, 1), 5))
	}
	b.must(b.PutSubscription(b.ctx, subscription(ann, 2), 5))
	b.setPrefs(chat.PrefsChange{Room: a.Room, User: bob, Silent: new(true)}, chat.Prefs{Silent: true})
	b.leave(a.Room, dan)
	_, err := b.Read(b.ctx, a.Room, eve, a.Seq, b.now)
	b.must(err)
	one, two, other := subscription(ann, 1), subscription(ann, 2), subscription(fay, 1) // cyn has sent the text, and so has read it
	if bytes.Compare(one.ID(), two.ID()) > 0 {
		one, two = two, one
	}
	b.subscribed(a, one, two, other)
	for after, want := range map[*chat.Subscription][]chat.Subscription{{}: {one}, &one: {two}, &two: {other}, &other: {}} {
		page := a
		page.After, page.Limit = *after, 1
		b.subscribed(page, want...)
	}
	a.Of = []string{bob, cyn, dan, eve, fay, "stranger"}
	b.subscribed(a, other)
	a.Seq++
	b.subscribed(a, subscription(cyn, 1), subscription(eve, 1), other)
}
