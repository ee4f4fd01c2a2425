package chaos

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/web/wire"
)

// checkJournals waits until each user has received the end of both rooms, and compares the journals with SQL. After SQL has lost
// entries, a client that is not connected again still has them.
func (w *world) checkJournals(f *fault, sql truth) (wrong []string) {
	deadline := time.Now().Add(calmLimit)
	lines := map[string][]line{}
	for _, room := range w.rooms {
		lines[room] = sql.lines(room)
	}
	for _, u := range w.users {
		for _, room := range u.homes {
			problems := u.copyOf(room).check(lines[room])
			for (len(problems) > 0 || u.lastOf(room) < int64(len(lines[room]))) && time.Now().Before(deadline) {
				time.Sleep(20 * time.Millisecond)
				problems = u.copyOf(room).check(lines[room])
			}
			if fresh := u.takeFresh(room); fresh > 0 && !f.mayBeginEpoch() {
				problems = append(problems, fmt.Sprintf("the room was numbered anew %d times, although SQL lost nothing", fresh))
			}
			if n := len(problems); n > 0 {
				wrong = append(wrong, fmt.Sprintf("journal of %s, %s: %d problems: %s; %s", u.name, room, n, strings.Join(problems[:min(n, 3)], "; "), u.connections()))
			}
		}
		for _, problem := range u.takeProblems() {
			wrong = append(wrong, "journal of "+u.name+": "+problem)
		}
	}
	return append(wrong, w.checkGaps(lines)...)
}

// checkGaps reads the entries that reconnects did not bring from history, as a client would, and compares them with SQL.
func (w *world) checkGaps(lines map[string][]line) (wrong []string) {
	var mu sync.Mutex
	var all sync.WaitGroup
	slots := make(chan struct{}, 10)
	for _, u := range w.users {
		for _, room := range u.homes {
			for _, gap := range u.copyOf(room).gaps {
				slots <- struct{}{}
				all.Go(func() {
					defer func() { <-slots }()
					problem := w.checkGap(u, room, gap, lines[room])
					mu.Lock()
					defer mu.Unlock()
					wrong = append(wrong, problem...)
				})
			}
		}
	}
	all.Wait()
	for _, u := range w.users {
		u.forgetGaps()
	}
	return wrong
}

func (w *world) checkGap(u *user, room string, gap span, lines []line) (wrong []string) {
	read := e2e.ReadPages(gap.after, gap.through, func(after int64) (page wire.HistoryReply) {
		if err := u.call(w.ctx, "history", wire.HistoryRequest{Room: room, After: &after, Limit: 100}, &page); err != nil {
			wrong = append(wrong, fmt.Sprintf("history of %s for %s: %v", room, u.name, err))
		}
		return page
	})
	got := make([]line, len(read))
	for i, e := range read {
		got[i] = line{e.Seq, e.ID}
	}
	last := min(gap.through, int64(len(lines)))
	if want := lines[min(gap.after, last):last]; !slices.Equal(got, want) {
		wrong = append(wrong, fmt.Sprintf("history of %s after %d through %d has %d entries, or others than SQL", room, gap.after, gap.through, len(got)))
	}
	return wrong
}

// forgetGaps drops the gaps: their entries are known now.
func (j *journal) forgetGaps() {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, r := range j.rooms {
		r.after, r.entries, r.gaps, r.skipped = r.last, nil, nil, nil
	}
}
