package main

import (
	"maps"
	"testing"
)

// TestRequestsThatComeAgain sends the wallet its questions and events more than once and in the wrong order, as they may come.
func TestRequestsThatComeAgain(t *testing.T) {
	l := &ledger{Spent: map[string]int64{}, Debits: map[string]int64{}, Reversed: map[string]bool{}}
	ask := func(id string, total, want int64) {
		t.Helper()
		q := question{ID: id}
		q.Data.User.ID, q.Data.Request.Total = "ann", total
		got, _ := l.fund(&q).(map[string]any)
		amount := int64(0)
		if fund, ok := got["fund"].(map[string]any); ok {
			amount, _ = fund["amount"].(int64)
		}
		if got["allow"] != true || amount != want {
			t.Errorf("funding %s of %d: %v, want %d", id, total, got, want)
		}
	}
	reverse := func(id string) {
		e := event{Type: "transfer.reversed"}
		e.Data.User, e.Data.Details.Funding = "ann", id
		l.reverse(&e)
	}
	ask("one", 9000, 9000)
	ask("one", 9000, 9000) // the answer was lost
	ask("two", 5000, 1000) // what is left
	reverse("one")
	reverse("one")
	ask("one", 9000, 0) // a question that was late
	reverse("three")    // the event comes before the question
	ask("three", 10, 0)
	ask("four", 9001, 9000)
	if want := map[string]int64{"two": 1000, "four": 9000}; !maps.Equal(l.Debits, want) || l.Spent["ann"] != start {
		t.Errorf("%v were taken and %d spent, want %v and %d", l.Debits, l.Spent["ann"], want, start)
	}
}
