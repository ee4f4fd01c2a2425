package chat_test

import (
	"fmt"
	"testing"
	"time"

	"hongbao/chat"
)

func TestHoursOfTheRetention(t *testing.T) {
	at := func(hour int) time.Time { return time.Date(2026, 11, 30, hour, 59, 0, 0, time.UTC) }
	for _, c := range []struct {
		hours chat.Hours
		in    []int
	}{
		{chat.Hours{}, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}},
		{chat.Hours{From: 2, To: 5}, []int{2, 3, 4}},
		{chat.Hours{From: 22, To: 2}, []int{22, 23, 0, 1}},
		{chat.Hours{From: 22, To: 24}, []int{22, 23}},
	} {
		in := map[int]bool{}
		for _, hour := range c.in {
			in[hour] = true
		}
		for hour := range 24 {
			if got := c.hours.Has(at(hour).In(time.FixedZone("", 8*3600))); got != in[hour] {
				t.Errorf("%+v has %d: %v", c.hours, hour, got)
			}
		}
	}
}

// retaining is a service whose rooms keep texts for 10 days, with a clock that the test sets.
type retaining struct {
	*testService
	now time.Time
}

func newRetaining(t *testing.T, hours chat.Hours) *retaining {
	r := &retaining{now: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)}
	r.testService = newTestService(t, chat.Options{
		Now: func() time.Time { return r.now }, Retention: chat.Retention{Days: chat.KeptDays{Public: 10, Private: 10, Direct: 10}, Hours: hours},
	})
	return r
}

// roomOf creates a room of the user with n texts.
func (r *retaining) roomOf(user string, n int) string {
	r.Helper()
	room, _, err := r.CreateRoom(r.ctx, chat.User{ID: user}, chat.CreateRoom{Name: "room of " + user, Key: "room-" + user})
	noError(r.T, err)
	for i := range n {
		_, err := r.Send(r.ctx, chat.User{ID: user}, chat.Message{Room: room.Room.ID, Key: fmt.Sprint(user, i), Text: "quince"})
		noError(r.T, err)
	}
	r.published.take()
	return room.Room.ID
}

// pass goes through all rooms, and returns how often it has paused.
func (r *retaining) pass(goOn func() bool) (pauses int) {
	r.RetirePass(r.ctx, func(time.Duration) bool {
		pauses++
		return goOn == nil || goOn()
	})
	return pauses
}

func TestRetentionRetiresAndTells(t *testing.T) {
	r := newRetaining(t, chat.Hours{})
	first, held := r.roomOf("ann", 60), r.roomOf("bob", 1)
	_, err := r.PutLegalHold(r.ctx, chat.LegalHold{Kind: chat.HoldUser, ID: "bob", Actor: "key/legal", Reason: "case"})
	noError(t, err)
	r.now = r.now.AddDate(0, 0, 9)
	if r.pass(nil); r.RetentionStats() != (chat.RetentionStats{}) {
		t.Errorf("after 9 days %+v", r.RetentionStats())
	}
	r.now = r.now.AddDate(0, 0, 3)
	if pauses := r.pass(nil); pauses != 2 || r.RetentionStats() != (chat.RetentionStats{Texts: 60, Held: 1, Late: 48 * time.Hour}) {
		t.Errorf("after 12 days %+v, with %d pauses", r.RetentionStats(), pauses)
	}
	for _, p := range r.published.take() {
		if p != (publication{To: first, Event: chat.TextsRetired{Room: first}}) {
			t.Errorf("published %+v", p)
		}
	}
	if of, err := r.RoomRetention(r.ctx, first); err != nil || of.Seq != 60 || r.KeptDays(of) != 10 {
		t.Errorf("retention %+v, %v", of, err)
	}
	if of, err := r.SetRetention(r.ctx, first, 3); err != nil || r.KeptDays(of) != 3 {
		t.Errorf("retention %+v, %v", of, err)
	}
	noError(t, r.DropLegalHold(r.ctx, chat.HoldUser, "bob"))
	if r.pass(nil); r.RetentionStats() != (chat.RetentionStats{Texts: 61, Late: 48 * time.Hour}) {
		t.Errorf("after the legal hold of %s %+v", held, r.RetentionStats())
	}
	if r.pass(nil); r.RetentionStats() != (chat.RetentionStats{Texts: 61}) {
		t.Errorf("at last %+v", r.RetentionStats())
	}
}

func TestRetentionKeepsItsHours(t *testing.T) {
	r := newRetaining(t, chat.Hours{From: 22, To: 2})
	r.roomOf("ann", 120)
	r.now = r.now.AddDate(0, 0, 20)
	if r.pass(nil); r.RetentionStats().Texts != 0 {
		t.Errorf("at noon %+v", r.RetentionStats())
	}
	r.now = r.now.Add(13 * time.Hour) // 01:00
	after := func() bool {
		r.now = r.now.Add(30 * time.Minute)
		return true
	}
	if r.pass(after); r.RetentionStats().Texts != 100 {
		t.Errorf("two steps before 02:00: %+v", r.RetentionStats())
	}
	r.now = r.now.Add(20 * time.Hour) // 22:00
	if r.pass(func() bool { return false }); r.RetentionStats().Texts != 120 {
		t.Errorf("in the next night: %+v", r.RetentionStats())
	}
}

func TestRetentionEndsWhenThePauseDoes(t *testing.T) {
	r := newRetaining(t, chat.Hours{})
	r.roomOf("ann", 120)
	r.now = r.now.AddDate(0, 0, 20)
	if pauses := r.pass(func() bool { return false }); pauses != 1 || r.RetentionStats().Texts != 50 {
		t.Errorf("%d pauses, %+v; want one step", pauses, r.RetentionStats())
	}
}

// TestRetentionThatIsCutOff has time for one step a night. Each night another room must have its turn, and what is late must be told.
func TestRetentionThatIsCutOff(t *testing.T) {
	r := newRetaining(t, chat.Hours{})
	for _, user := range []string{"ann", "bob", "cyn"} {
		r.roomOf(user, 60)
	}
	r.now = r.now.AddDate(0, 0, 12)
	for night := 1; night <= 3; night++ {
		r.pass(func() bool { return false })
		if got := r.RetentionStats(); got != (chat.RetentionStats{Texts: int64(50 * night), Late: 48 * time.Hour}) {
			t.Errorf("after the %d. night %+v", night, got)
		}
	}
	if r.pass(nil); r.RetentionStats().Texts != 180 {
		t.Errorf("at last %+v", r.RetentionStats())
	}
}
