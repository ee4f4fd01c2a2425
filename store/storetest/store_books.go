package storetest

import (
	"encoding/json"
	"errors"
	"slices"

	"hongbao/chat"
	"hongbao/redpacket"
)

// books returns the engine as a Ledger, because it keeps rooms and money in one database.
func (b *storeBench) books() redpacket.Ledger {
	b.Helper()
	l, ok := b.Store.(redpacket.Ledger)
	if !ok {
		b.Fatalf("%T keeps no books", b.Store)
	}
	return l
}

// balanced runs the engine's audit, which must find no difference. The audit also checks the rooms' counts of members and
// entries.
func (b *storeBench) balanced() {
	b.Helper()
	a, err := b.books().Audit(b.ctx, nil)
	b.must(err)
	for _, d := range a.Differences {
		b.Errorf("the books differ: %s %s: %s", d.Kind, d.ID, d.What)
	}
}

// unchanged runs f and checks that the room, its entries and its members stay the same.
func (b *storeBench) unchanged(room string, f func()) {
	b.Helper()
	r, err := b.Room(b.ctx, room)
	b.must(err)
	entries, people := b.history(room), b.people(room)
	f()
	if now, err := b.Room(b.ctx, room); err != nil || now != r {
		b.Errorf("the room was %+v and is %+v, %v", r, now, err)
	}
	if now := b.history(room); !slices.EqualFunc(now, entries, sameEntry) {
		b.Errorf("the entries were %+v and are %+v", entries, now)
	}
	if now := b.people(room); !slices.Equal(now, people) {
		b.Errorf("the people were %+v and are %+v", people, now)
	}
	b.balanced()
}

func sameEntry(x, y chat.Entry) bool {
	return x.Seq == y.Seq && x.ID == y.ID && x.Kind == y.Kind && string(x.Body) == string(y.Body)
}

// people lists the members of a room with few members.
func (b *storeBench) people(room string) []chat.Member {
	b.Helper()
	members, more, err := b.Members(b.ctx, room, "", 1000)
	b.must(err)
	if more != "" {
		b.Fatal("the room is larger than the test thinks")
	}
	return members
}

// refusedField fails the test unless err is the error want for this field.
func (b *storeBench) refusedField(err, want error, field string) {
	b.Helper()
	var bad *chat.FieldError
	if !errors.Is(err, want) || !errors.As(err, &bad) || bad.Field != field {
		b.Errorf("got error %v, want %v of %s", err, want, field)
	}
}

// body decodes an entry's body.
func body[T any](b *storeBench, e chat.Entry) (v T) {
	b.Helper()
	b.must(json.Unmarshal(e.Body, &v))
	return v
}

// sorted returns a sorted copy, for results without an order.
func sorted(users []string) []string { return slices.Sorted(slices.Values(users)) }
