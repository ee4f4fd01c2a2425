package storetest

import (
	"fmt"
	"slices"
	"sync"

	"hongbao/chat"
)

func amendCrowdTests() []storeTest {
	return []storeTest{
		{"many react at once", reactAtOnce},
		{"one text is edited many times at once", editAtOnce},
	}
}

func reactAtOnce(b *storeBench) {
	const users = 10 // few enough for a busy machine: each waits for all before it
	room := b.room(ann)
	b.say(room, ann)
	asks := make([]chat.Amendment, 2*users) // each user twice
	for i := range asks {
		if i < users {
			b.join(room, member(i))
		}
		asks[i] = b.reacting(room, member(i%users), 1, "👍", true)
	}
	var mu sync.Mutex
	var counts []int
	together(len(asks), func(i int) {
		done, err := b.Amend(b.ctx, asks[i])
		if err != nil {
			b.Error(err)
		}
		if done.Changed {
			mu.Lock()
			defer mu.Unlock()
			counts = append(counts, body[chat.Reaction](b, done.Entry).Count)
		}
	})
	slices.Sort(counts)
	if len(counts) != users || counts[0] != 1 || counts[users-1] != users || len(slices.Compact(counts)) != users {
		b.Errorf("they count %v, want each up to %d once", counts, users)
	}
	b.reads(room, 1, fmt.Sprintf(`{"text":"said","reactions":{"👍":%d}}`, users))
	b.balanced()
}

func editAtOnce(b *storeBench) {
	const times = 10
	room := b.room(ann)
	b.say(room, ann)
	asks := make([]chat.Amendment, times)
	for i := range asks {
		asks[i] = b.editing(room, ann, 1, fmt.Sprint("text ", i))
	}
	together(times, func(i int) {
		if done, err := b.Amend(b.ctx, asks[i]); err != nil || !done.Changed {
			b.Errorf("edited %+v, %v", done, err)
		}
	})
	kept := b.history(room)
	if last := body[chat.Edit](b, kept[times]); body[chat.Text](b, kept[0]).Text != last.Text || len(kept) != times+1 {
		b.Errorf("it reads %s, the last of %d edits %s", kept[0].Body, len(kept)-1, kept[times].Body)
	}
	b.balanced()
}
