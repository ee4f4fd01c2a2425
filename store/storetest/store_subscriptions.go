package storetest

import (
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
		{"a revocation removes the push subscriptions", revokedSubscriptions},
		{"members that are not silent are listed in pages", unsilencedMembers},
	}
}

// subscription returns the n-th subscription of the user.
func subscription(user string, n int) chat.Subscription {
	return chat.Subscription{
		User: user, Endpoint: fmt.Sprintf("https://push.test/%d", n), P256dh: slices.Repeat([]byte{4}, 65), Auth: slices.Repeat([]byte{byte(n)}, 16),
		At: codeTime.Add(time.Duration(n) * time.Millisecond),
	}
}

// subscribed checks which subscriptions the users have.
func (b *storeBench) subscribed(users []string, want ...chat.Subscription) {
	b.Helper()
	got, err := b.Subscriptions(b.ctx, users)
	b.must(err)
	slices.SortFunc(got, func(x, y chat.Subscription) int {
		return strings.Compare(x.User+" "+x.Endpoint, y.User+" "+y.Endpoint)
	})
	if len(got) != len(want) || len(got) > 0 && !reflect.DeepEqual(got, want) {
		b.Errorf("%v have the subscriptions %v, want %v", users, got, want)
	}
}

func keptSubscriptions(b *storeBench) {
	one, two := subscription(ann, 1), subscription(bob, 1)
	b.must(b.PutSubscription(b.ctx, one, 5)) // ann is unknown
	b.must(b.PutSubscription(b.ctx, two, 5))
	b.Store = b.Reopen()
	b.subscribed([]string{ann, bob, cyn}, one, two)
	b.subscribed(nil)

	renewed := one
	renewed.Auth, renewed.At = slices.Repeat([]byte{9}, 16), codeTime.Add(time.Second)
	b.must(b.PutSubscription(b.ctx, renewed, 5))
	b.must(b.DeleteSubscription(b.ctx, one)) // its keys are not the stored ones any more
	b.subscribed([]string{ann}, renewed)
	b.must(b.DeleteSubscription(b.ctx, renewed))
	b.must(b.DeleteSubscription(b.ctx, renewed))
	b.subscribed([]string{ann, bob}, two)
	b.must(b.DeleteSubscription(b.ctx, chat.Subscription{User: bob, Endpoint: two.Endpoint}))
	b.subscribed([]string{ann, bob})
}

func boundedSubscriptions(b *storeBench) {
	b.must(b.PutSubscription(b.ctx, subscription(bob, 1), 2))
	for _, n := range []int{3, 1, 2} {
		b.must(b.PutSubscription(b.ctx, subscription(ann, n), 2))
	}
	b.subscribed([]string{ann, bob}, subscription(ann, 2), subscription(ann, 3), subscription(bob, 1))
	b.must(b.PutSubscription(b.ctx, subscription(ann, 0), 2)) // the new one is kept, whatever its time
	b.subscribed([]string{ann}, subscription(ann, 0), subscription(ann, 3))

	var all sync.WaitGroup
	for n := range 6 {
		all.Go(func() {
			if err := b.PutSubscription(b.ctx, subscription(cyn, n), 2); err != nil {
				b.Error(err)
			}
		})
	}
	all.Wait()
	got, err := b.Subscriptions(b.ctx, []string{cyn})
	b.must(err)
	if len(got) != 2 {
		b.Errorf("%d subscriptions after six at once, want 2", len(got))
	}
}

func revokedSubscriptions(b *storeBench) {
	b.must(b.PutSubscription(b.ctx, subscription(ann, 1), 5))
	b.must(b.PutSubscription(b.ctx, subscription(bob, 1), 5))
	b.must(b.Revoke(b.ctx, ann, 1))
	b.subscribed([]string{ann, bob}, subscription(bob, 1))
}

func unsilencedMembers(b *storeBench) {
	room := b.room(ann, bob, cyn, dan)
	b.setPrefs(chat.PrefsChange{Room: room, User: bob, Silent: new(true)}, chat.Prefs{Silent: true})
	b.leave(room, cyn)
	is := func(of []string, after string, limit int, want ...string) {
		b.Helper()
		got, err := b.Unsilenced(b.ctx, room, of, after, limit)
		b.must(err)
		if !slices.Equal(got, want) {
			b.Errorf("of %v after %q come %v, want %v", of, after, got, want)
		}
	}
	is(nil, "", 10, ann, dan)
	is(nil, "", 1, ann)
	is(nil, ann, 10, dan)
	is([]string{bob, cyn, dan, "nobody"}, "", 10, dan)
}
