package storetest

import (
	"fmt"
	"slices"

	"hongbao/chat"
)

func ownTests() []storeTest {
	return []storeTest{
		{"all that a user has sent is read page by page", ownEntries},
		{"the push subscriptions of a user are listed", ownSubscriptions},
	}
}

func ownEntries(b *storeBench) {
	first, second, empty := b.room(ann, bob), b.privateRoom(bob, ann), b.room(bob)
	var want []string
	for i := range 5 {
		b.write(first, []string{bob, ann}[i%2], fmt.Sprintf("quince %d", i))
		b.write(second, bob, fmt.Sprintf("pear %d", i))
	}
	b.amend(b.editing(first, bob, 1, "quince edited"), `{"target":1,"text":"quince edited"}`)
	b.amend(b.amending(chat.KindRecall, first, bob, 3), `{"target":3}`)
	b.leave(first, bob)
	for _, room := range slices.Sorted(slices.Values([]string{first, second, empty})) {
		for _, e := range b.history(room) {
			if e.From.ID == bob {
				want = append(want, fmt.Sprint(e.Room, e.Seq, e.Kind, string(e.Body)))
			}
		}
	}
	for _, limit := range []int{1, 2, 100} {
		var got []string
		for next, more := "", true; more; more = next != "" {
			page, following, err := b.EntriesOf(b.ctx, bob, next, limit)
			if b.must(err); len(page) > limit {
				b.Fatalf("a page of %d has %d entries", limit, len(page))
			}
			for _, e := range page {
				got = append(got, fmt.Sprint(e.Room, e.Seq, e.Kind, string(e.Body)))
			}
			next = following
		}
		if !slices.Equal(got, want) {
			b.Errorf("pages of %d have\n%q, want\n%q", limit, got, want)
		}
	}
	if page, next, err := b.EntriesOf(b.ctx, "nobody", "", 10); err != nil || len(page) > 0 || next != "" {
		b.Errorf("of nobody: %v, %q, %v", page, next, err)
	}
	_, _, err := b.EntriesOf(b.ctx, bob, "nonsense", 10)
	b.refused(err, chat.ErrBadRequest)
}

func ownSubscriptions(b *storeBench) {
	b.known(ann, bob)
	want := []chat.Subscription{subscription(ann, 1), subscription(ann, 2)}
	for _, sub := range append(slices.Clone(want), subscription(bob, 3)) {
		b.must(b.PutSubscription(b.ctx, sub, 5))
	}
	got, err := b.SubscriptionsOf(b.ctx, ann)
	b.must(err)
	slices.SortFunc(got, func(a, b chat.Subscription) int { return a.At.Compare(b.At) })
	if fmt.Sprint(got) != fmt.Sprint(want) {
		b.Errorf("listed %v, want %v", got, want)
	}
}
