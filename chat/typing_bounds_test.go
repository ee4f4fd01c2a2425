package chat

import (
	"strconv"
	"testing"
	"time"
)

// TestTypingIsBounded lets many users type for a long time. Only the events of the last two seconds may be kept in
// memory.
func TestTypingIsBounded(t *testing.T) {
	ty := &New(nil, nil, Options{}).typing
	now := time.Unix(1_700_000_000, 0)
	for i := range 1000 {
		now = now.Add(100 * time.Millisecond)
		ty.allowUser(memberKey{"room-" + strconv.Itoa(i), "user"}, now)
		ty.allowRoom("room-"+strconv.Itoa(i), now)
	}
	if users, rooms := len(ty.users), len(ty.rooms); users > 20 || rooms > 20 {
		t.Errorf("%d users and %d rooms kept of the last second's ten", users, rooms)
	}
}
