package pgstore

import (
	"fmt"
	"testing"
)

// TestSeededIsBounded adds more users than the cache holds. It must stay within maxSeeded and know the users added last.
func TestSeededIsBounded(t *testing.T) {
	var s seeded
	for i := range maxSeeded / 100 * 2 {
		users := make([]string, 100)
		for n := range users {
			users[n] = fmt.Sprint(i, " ", n)
		}
		s.add(users)
		if others := s.unknown(users); len(others) > 0 {
			t.Fatalf("%d of 100 users are forgotten at once", len(others))
		}
		if len(s.users) > maxSeeded {
			t.Fatalf("%d users are cached, want at most %d", len(s.users), maxSeeded)
		}
	}
	s.forget()
	if others := s.unknown([]string{"0 0"}); len(others) != 1 {
		t.Error("a user is still cached after forget")
	}
}
