package chat_test

import (
	"slices"
	"testing"
	"time"

	"hongbao/chat"
)

// TestIDsSortByTheTimeOfTheirDrawing draws ids in one millisecond, in the next, and again in the first.
func TestIDsSortByTheTimeOfTheirDrawing(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	draw := func(at time.Time, n int) (ids []string) {
		for range n {
			ids = append(ids, chat.NewID(at))
		}
		return ids
	}
	first, next := draw(now, 2048), draw(now.Add(time.Millisecond), 2048)
	if all := slices.Concat(first, next); !slices.IsSorted(all) || len(slices.Compact(all)) != len(all) {
		t.Error("the ids are not in the order of their drawing")
	}
	if again := draw(now, 1)[0]; again > next[0] || again[14] != '7' || slices.Contains(first, again) {
		t.Errorf("%s is no id of its millisecond", again)
	}
}
