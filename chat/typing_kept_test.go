package chat

import (
	"strconv"
	"testing"
	"time"
)

// TestTypingForgets: what is remembered is of the last two seconds.
func TestTypingForgets(t *testing.T) {
	ty := &New(nil, nil, Options{}).typing
	now := time.Unix(1_700_000_000, 0)
	for i := range 1000 {
		now = now.Add(100 * time.Millisecond)
		ty.begins(seat{"room-" + strconv.Itoa(i), "user"}, now)
		ty.told("room-"+strconv.Itoa(i), now)
	}
	if seats, rooms := len(ty.seats), len(ty.rooms); seats > 20 || rooms > 20 {
		t.Errorf("%d seats and %d rooms remembered of the last second's ten", seats, rooms)
	}
}
