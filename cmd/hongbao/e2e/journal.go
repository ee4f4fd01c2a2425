package e2e

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"hongbao/web/wire"
)

// Journal waits until the client's position in the room is the seq last. It returns, in the order of seq, all entries that
// were pushed, and those of announced gaps, which it reads from history.
func (c *Client) Journal(room string, last int) []wire.Entry {
	c.t.Helper()
	channel := wire.RoomChannel(room)
	Eventually(c.t, 20*time.Second, fmt.Sprintf("%s is at entry %d, the last one of the room", c.User.Name, last), func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.last[channel] == uint64(last)
	})
	c.mu.Lock()
	heard, gaps := slices.Clone(c.heard[channel]), slices.Clone(c.gaps)
	c.mu.Unlock()
	for _, g := range gaps {
		if g.channel == channel {
			heard = append(heard, History(c, room, int64(g.after), int64(g.through))...)
		}
	}
	slices.SortStableFunc(heard, BySeq)
	return heard
}

// All is higher than the seq of any entry.
const All = 1 << 40

// History reads the entries of a room whose seq is above after and at most through.
func History(c *Client, room string, after, through int64) []wire.Entry {
	return ReadPages(after, through, func(after int64) wire.HistoryReply {
		return Call[wire.HistoryReply](c, "history", wire.HistoryRequest{Room: room, After: &after, Limit: 100})
	})
}

// ReadPages is History with a function that reads one page: the entries after a seq.
func ReadPages(after, through int64, read func(after int64) wire.HistoryReply) (entries []wire.Entry) {
	for more := true; more && after < through; {
		page := read(after)
		for _, e := range page.Entries {
			if e.Seq <= through {
				entries = append(entries, e)
			}
			after = e.Seq
		}
		more = page.More
	}
	return entries
}

// MustBeTail fails the test unless the entries that a client heard are the last ones of the room's history.
func MustBeTail(t *testing.T, name string, heard, history []wire.Entry) {
	t.Helper()
	if len(heard) > len(history) || !slices.EqualFunc(heard, history[len(history)-len(heard):], SameEntry) {
		t.Errorf("%s received %d entries of a room that has %d, and they are not its last ones, each once", name, len(heard), len(history))
	}
}

// BySeq compares entries by seq.
func BySeq(a, b wire.Entry) int { return cmp.Compare(a.Seq, b.Seq) }

// SameEntry reports whether two entries have one seq and one id.
func SameEntry(a, b wire.Entry) bool { return a.Seq == b.Seq && a.ID == b.ID }
