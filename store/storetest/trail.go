package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/store/trail"
)

// TrailUnderTest is a trail.Store of a database with users.
type TrailUnderTest interface {
	trail.Store
	chat.Store
}

// TestTrail runs the suite of trail.Store. open is called once for each test.
func TestTrail(t *testing.T, open func(t *testing.T) TrailUnderTest) {
	for name, run := range map[string]func(t *testing.T, s TrailUnderTest){
		"the first refusal stays, and lists have pages": refusalsAreListed, "old refusals are deleted": refusalsAreDeleted,
		"events of sockets are listed": socketsAreListed, "old events of sockets are deleted": socketsAreDeleted, "an erasure deletes the user's events of sockets": socketsAreErased,
	} {
		t.Run(name, func(t *testing.T) { run(t, open(t)) })
	}
}

func refusalsAreListed(t *testing.T, s TrailUnderTest) {
	ctx, at := t.Context(), lived.UTC()
	all := []trail.Refusal{
		{User: "bob", Packet: "p", At: at, Why: "empty"}, {User: "bob", Packet: "q", At: at, Why: "empty"}, {User: "bob", Packet: "q", At: at, Why: "forbidden field=passphrase"},
		{User: "cyn", Packet: "p", At: at, Why: "empty"}, {User: "ann", Packet: "p", At: at.Add(time.Millisecond), Why: "expired"},
	}
	noError(t, s.AddRefusals(ctx, all))
	noError(t, s.AddRefusals(ctx, []trail.Refusal{{User: "bob", Packet: "p", At: at.Add(time.Hour), Why: "empty"}}))
	pages := func(of string, read func(after string) ([]trail.Refusal, string, error)) (got []trail.Refusal) {
		for after := ""; ; {
			page, next, err := read(after)
			noError(t, err)
			if len(page) > 2 {
				t.Errorf("of %s: a page of %d", of, len(page))
			}
			if got = append(got, page...); next == "" {
				return got
			}
			after = next
		}
	}
	bobs := pages("bob", func(after string) ([]trail.Refusal, string, error) { return s.RefusalsOf(ctx, "bob", after, 2) })
	if want := []trail.Refusal{all[2], all[1], all[0]}; !reflect.DeepEqual(bobs, want) {
		t.Errorf("of bob: %+v, want %+v", bobs, want)
	}
	atP := pages("p", func(after string) ([]trail.Refusal, string, error) { return s.RefusalsAt(ctx, "p", after, 2) })
	if want := []trail.Refusal{all[0], all[3], all[4]}; !reflect.DeepEqual(atP, want) {
		t.Errorf("at p: %+v, want %+v", atP, want)
	}
	for _, read := range []func(string) error{
		func(after string) error { _, _, err := s.RefusalsOf(ctx, "bob", after, 2); return err },
		func(after string) error { _, _, err := s.RefusalsAt(ctx, "p", after, 2); return err },
	} {
		if err := read("x"); !errors.Is(err, chat.ErrBadRequest) {
			t.Errorf("a text that is no cursor: %v", err)
		}
	}
}

func refusalsAreDeleted(t *testing.T, s TrailUnderTest) {
	ctx, at := t.Context(), lived.UTC()
	var all []trail.Refusal
	for i := range 10 {
		all = append(all, trail.Refusal{User: "bob", Packet: fmt.Sprint("p", i), At: at.Add(time.Duration(i) * time.Second), Why: "empty"})
	}
	noError(t, s.AddRefusals(ctx, all))
	for _, step := range []struct {
		before           time.Time
		most, limit, now int
	}{
		{at, 1000, 100, 10}, {at.Add(3 * time.Second), 1000, 2, 8}, {at.Add(3 * time.Second), 1000, 2, 7}, {at, 5, 1, 6}, {at, 5, 100, 5}, {at, 5, 100, 5},
	} {
		n, err := s.DropRefusals(ctx, step.before, step.most, step.limit)
		noError(t, err)
		left, _, err := s.RefusalsOf(ctx, "bob", "", 100)
		noError(t, err)
		slices.Reverse(left)
		if !reflect.DeepEqual(left, all[10-step.now:]) || n > step.limit {
			t.Errorf("%+v deletes %d and leaves %+v", step, n, left)
		}
	}
}

func socketsAreListed(t *testing.T, s TrailUnderTest) {
	ctx, at := t.Context(), lived.UTC()
	all := []trail.SocketEvent{
		{User: "bob", Socket: "s1", At: at, What: trail.SocketOpened}, {User: "bob", Socket: "s2", At: at, What: trail.SocketOpened},
		{User: "bob", Socket: "s1", At: at.Add(time.Second), What: trail.SocketClosed, Code: 3008}, {User: "bob", Socket: "s2", At: at.Add(time.Minute), What: trail.SocketLost},
	}
	noError(t, s.AddSockets(ctx, slices.Concat(all[:2], []trail.SocketEvent{{User: "cyn", Socket: "s3", At: at, What: trail.SocketOpened}}, all[2:])))
	var got []trail.SocketEvent
	for after := ""; ; {
		page, next, err := s.SocketsOf(ctx, "bob", after, 3)
		noError(t, err)
		if got = append(got, page...); next == "" || len(got) > len(all) {
			break
		}
		after = next
	}
	slices.Reverse(all)
	if !reflect.DeepEqual(got, all) {
		t.Errorf("of bob: %+v, want %+v", got, all)
	}
	if _, _, err := s.SocketsOf(ctx, "bob", "x", 2); !errors.Is(err, chat.ErrBadRequest) {
		t.Errorf("a text that is no cursor: %v", err)
	}
}

func socketsAreDeleted(t *testing.T, s TrailUnderTest) {
	ctx, at := t.Context(), lived.UTC()
	var all []trail.SocketEvent
	for i := range 10 {
		all = append(all, trail.SocketEvent{User: "bob", Socket: fmt.Sprint("s", i), At: at.Add(time.Duration(i) * time.Second), What: trail.SocketOpened})
	}
	noError(t, s.AddSockets(ctx, all))
	for _, step := range []struct{ most, now int }{{1000, 7}, {5, 5}} {
		_, err := s.DropSockets(ctx, at.Add(3*time.Second), step.most, 100)
		noError(t, err)
		left, _, err := s.SocketsOf(ctx, "bob", "", 100)
		noError(t, err)
		slices.Reverse(left)
		if !reflect.DeepEqual(left, all[10-step.now:]) {
			t.Errorf("at most %d rows: left %+v", step.most, left)
		}
	}
}

func socketsAreErased(t *testing.T, s TrailUnderTest) {
	ctx, at := t.Context(), lived.UTC()
	for _, user := range []string{"bob", "cyn"} {
		_, _, err := s.PutUser(ctx, chat.Profile{User: chat.User{ID: user, Name: user}}, 0)
		noError(t, err)
		noError(t, s.AddSockets(ctx, []trail.SocketEvent{{User: user, Socket: "s", At: at, What: trail.SocketOpened}}))
	}
	_, err := s.BeginErasure(ctx, chat.NewErasure{User: "bob", At: at})
	noError(t, err)
	for user, want := range map[string]int{"bob": 0, "cyn": 1} {
		if left, _, err := s.SocketsOf(ctx, user, "", 10); err != nil || len(left) != want {
			t.Errorf("of %s: %+v, %v; want %d events", user, left, err, want)
		}
	}
}
