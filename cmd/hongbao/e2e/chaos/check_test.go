package chaos

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/web/wire"
)

const (
	readyLimit  = 30 * time.Second
	answerLimit = 45 * time.Second // a client of centrifuge-go waits up to 20 s before it reconnects
	closeLimit  = 5 * time.Second  // after its deadline, or after the fault
	outboxLimit = 20 * time.Second // recovery waits 5 s, and longer after each failure
	calmLimit   = 40 * time.Second // for journals: a client notices a dead connection after 35 s
)

// truth is what SQL has.
type truth struct {
	rooms       map[string][]storedEntry // by seq, from 1
	claims      map[win]bool
	packets     map[string]stored
	memberships map[membership]bool
}

// storedEntry is an entry as SQL has it.
type storedEntry struct {
	line

	kind, user, key string
}

// check waits until the world is calm after a fault, and returns all that is wrong.
func (w *world) check(f *fault) (wrong []string) {
	calm := time.Now()
	var sql truth
	for _, step := range []struct {
		name string
		run  func() []string
	}{
		{"instances are ready", func() []string { return w.awaitReady(readyLimit) }},
		{"requests are answered", func() []string { return w.gate.awaitAnswers(answerLimit) }},
		{"packets are closed", func() []string { return w.checkClosed(calm) }},
		{"the outbox is empty", w.checkOutbox},
		{"books are audited", func() []string { return w.checkBooks(f) }},
		{"SQL is read", func() (failed []string) {
			var err error
			if sql, err = w.readTruth(); err != nil {
				failed = []string{"cannot read SQL: " + err.Error()}
			}
			return failed
		}},
		{"answers are compared", func() []string { return w.record.check(sql) }},
		{"journals are compared", func() []string { return w.checkJournals(f, sql) }},
		{"histories are explained", func() []string { return w.checkHistories(f, sql) }},
		{"goroutines and memory are measured", func() []string { return w.checkUsage(f) }},
	} {
		began := time.Now()
		wrong = append(wrong, step.run()...)
		if took := time.Since(began); took > f.longest {
			f.longest, f.waited = took, step.name
		}
	}
	return wrong
}

// checkClosed waits until no packet is open.
func (w *world) checkClosed(calm time.Time) (wrong []string) {
	for {
		late, open, err := w.openPackets(calm)
		switch {
		case err != nil && time.Since(calm) > readyLimit:
			return []string{"cannot read open packets: " + err.Error()}
		case err == nil && len(late) > 0:
			return late
		case err == nil && open == 0:
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// openPackets returns the number of open packets, and names those that should have been closed by now.
func (w *world) openPackets(calm time.Time) (late []string, open int, err error) {
	err = w.query(func(c *pgx.Conn) error {
		rows, _ := c.Query(w.ctx, "select id, expires_at from packets where status = 'open'")
		var id string
		var expires int64
		_, err := pgx.ForEachRow(rows, []any{&id, &expires}, func() error {
			open++
			if limit := max(expires, calm.UnixMilli()) + closeLimit.Milliseconds(); time.Now().UnixMilli() > limit {
				late = append(late, fmt.Sprintf("packet %s is open %d ms after its deadline", id, time.Now().UnixMilli()-expires))
			}
			return nil
		})
		return err
	})
	return late, open, err
}

// checkOutbox waits until Redis has no grant that is not settled.
func (w *world) checkOutbox() []string {
	c := w.redisClient()
	defer c.Close()
	for deadline := time.Now().Add(outboxLimit); ; time.Sleep(100 * time.Millisecond) {
		var held []string
		for keys := c.Scan(w.ctx, 0, "*:outbox", 1000).Iterator(); keys.Next(w.ctx); {
			entries, err := c.ZRange(w.ctx, keys.Val(), 0, -1).Result()
			for _, entry := range entries {
				if !strings.HasPrefix(entry, "#") { // a filler that no grab wrote
					held = append(held, entry)
				}
			}
			if err != nil {
				held = append(held, err.Error())
			}
		}
		if len(held) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return []string{fmt.Sprintf("%d grants stay in the outbox (time, packet, users and shares): %q", len(held), held)}
		}
	}
}

// checkBooks runs `hongbao audit`. All money is that of the users, and none is in a packet. Only a poisoned row brings a claim into
// quarantine.
func (w *world) checkBooks(f *fault) (wrong []string) {
	report, err := w.instances[0].current().TryAudit()
	if err != nil {
		return []string{"audit: " + err.Error()}
	}
	for _, d := range report.Differences {
		wrong = append(wrong, fmt.Sprintf("audit: %s %s: %s", d.Kind, d.ID, d.What))
	}
	if want := int64(len(w.users) * credit); report.Funded != want || report.InWallets != want {
		wrong = append(wrong, fmt.Sprintf("%d of %d is funded and %d in wallets, %d in packets", report.Funded, want, report.InWallets, report.InPackets))
	}
	if report.Quarantined > w.quarantined && !f.poisons() {
		wrong = append(wrong, fmt.Sprintf("%d claims are in quarantine, before the fault %d", report.Quarantined, w.quarantined))
	}
	w.quarantined = report.Quarantined
	return wrong
}

// query runs a function with a connection to the primary.
func (w *world) query(run func(c *pgx.Conn) error) error {
	c, err := w.postgres.connect(w.ctx, w.postgres.database)
	if err != nil {
		return err
	}
	defer c.Close(context.WithoutCancel(w.ctx))
	return run(c)
}

// readTruth reads from SQL what users were told about.
func (w *world) readTruth() (sql truth, err error) {
	sql = truth{rooms: map[string][]storedEntry{}, claims: map[win]bool{}, packets: map[string]stored{}, memberships: map[membership]bool{}}
	err = w.query(func(c *pgx.Conn) error {
		return cmp.Or(sql.readEntries(w.ctx, c), sql.readPackets(w.ctx, c), sql.readClaims(w.ctx, c), sql.readMembers(w.ctx, c))
	})
	return sql, err
}

func (sql *truth) readEntries(ctx context.Context, c *pgx.Conn) error {
	rows, _ := c.Query(ctx, "select room_id, seq, id, kind, sender, key from entries order by room_id, seq")
	var room string
	var e storedEntry
	_, err := pgx.ForEachRow(rows, []any{&room, &e.seq, &e.id, &e.kind, &e.user, &e.key}, func() error {
		sql.rooms[room] = append(sql.rooms[room], e)
		return nil
	})
	return err
}

func (sql *truth) readPackets(ctx context.Context, c *pgx.Conn) error {
	rows, _ := c.Query(ctx, "select id, status, expires_at, coalesce(closed_at, 0) from packets")
	var id string
	var p stored
	_, err := pgx.ForEachRow(rows, []any{&id, &p.status, &p.expires, &p.closed}, func() error {
		sql.packets[id] = p
		return nil
	})
	return err
}

func (sql *truth) readClaims(ctx context.Context, c *pgx.Conn) error {
	rows, _ := c.Query(ctx, "select packet_id, user_id, share_no + 1, amount from claims order by packet_id, share_no")
	var claim win
	_, err := pgx.ForEachRow(rows, []any{&claim.packet, &claim.user, &claim.rank, &claim.amount}, func() error {
		sql.claims[claim] = true
		p := sql.packets[claim.packet]
		p.claims = append(p.claims, claim)
		sql.packets[claim.packet] = p
		return nil
	})
	return err
}

func (sql *truth) readMembers(ctx context.Context, c *pgx.Conn) error {
	rows, _ := c.Query(ctx, "select user_id, room_id, state from members")
	var m membership
	var state string
	_, err := pgx.ForEachRow(rows, []any{&m.user, &m.room, &state}, func() error {
		sql.memberships[m] = state == "in"
		return nil
	})
	return err
}

// lines returns the entries of a room as journals have them.
func (sql *truth) lines(room string) []line {
	lines := make([]line, len(sql.rooms[room]))
	for i, e := range sql.rooms[room] {
		lines[i] = e.line
	}
	return lines
}

// check compares what users were told with what SQL has.
func (r *record) check(sql truth) (wrong []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	wrong = append(wrong, r.wrong...)
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	for room, entries := range sql.rooms {
		seen := map[string]bool{}
		for n, e := range entries {
			if e.seq != int64(n)+1 {
				say("room %s has entry %d in place %d", room, e.seq, n+1)
			}
			if request := e.user + " " + e.key; e.key != "" && e.kind != "packet_done" {
				if seen[request] {
					say("request %s is in room %s twice", request, room)
				}
				seen[request] = true
			}
		}
	}
	entry := func(room string, seq int64) storedEntry {
		if entries := sql.rooms[room]; seq >= 1 && seq <= int64(len(entries)) {
			return entries[seq-1]
		}
		return storedEntry{}
	}
	for _, t := range r.texts {
		if e := entry(t.room, t.seq); e.kind != "text" || e.id != t.id || e.key != t.key || e.user != t.user {
			say("text %+v was acknowledged, and SQL has %+v there", t, e)
		}
	}
	for _, p := range r.packets {
		if e := entry(p.room, p.seq); e.kind != "packet" || e.key != p.key || e.user != p.user || sql.packets[p.id].status == "" {
			say("packet %+v was acknowledged, and SQL has %+v there, and status %q of the packet", p, e, sql.packets[p.id].status)
		}
	}
	for told := range r.wins {
		if !sql.claims[told] {
			say("share %+v was won, and SQL has no such claim", told)
		}
	}
	for id := range r.cancelled {
		if status := sql.packets[id].status; status != "cancelled" {
			say("the cancellation of packet %s was acknowledged, and its status is %q", id, status)
		}
	}
	for m, in := range r.memberships {
		if sql.memberships[m] != in {
			say("user %s was told that being a member of %s is %t, and SQL has %t", m.user, m.room, in, sql.memberships[m])
		}
	}
	return wrong
}

// checkJournals waits until each user has received the end of both rooms, and compares the journals with SQL.
func (w *world) checkJournals(f *fault, sql truth) (wrong []string) {
	deadline := time.Now().Add(calmLimit)
	lines := map[string][]line{}
	for _, room := range w.rooms {
		lines[room] = sql.lines(room)
	}
	for _, u := range w.users {
		for _, room := range u.homes {
			for u.lastOf(room) < int64(len(lines[room])) && time.Now().Before(deadline) {
				time.Sleep(20 * time.Millisecond)
			}
			journal := u.copyOf(room)
			problems := journal.check(lines[room])
			if fresh := u.takeFresh(room); fresh > 0 && !f.mayBeginEpoch() {
				problems = append(problems, fmt.Sprintf("the room was numbered anew %d times, although SQL lost nothing", fresh))
			}
			if n := len(problems); n > 0 {
				wrong = append(wrong, fmt.Sprintf("journal of %s, %s: %d problems: %s", u.name, room, n, strings.Join(problems[:min(n, 3)], "; ")))
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
	for _, u := range w.users {
		for _, room := range u.homes {
			for _, gap := range u.copyOf(room).gaps {
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
				last := min(gap.through, int64(len(lines[room])))
				if want := lines[room][min(gap.after, last):last]; !slices.Equal(got, want) {
					wrong = append(wrong, fmt.Sprintf("history of %s after %d through %d has %d entries, or others than SQL", room, gap.after, gap.through, len(got)))
				}
			}
		}
		u.forgetGaps()
	}
	return wrong
}

// forgetGaps drops the gaps: their entries are known now.
func (j *journal) forgetGaps() {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, r := range j.rooms {
		r.after, r.entries, r.gaps = r.last, nil, nil
	}
}

// checkHistories checks for each packet of the fault that one order of all operations explains the answers.
func (w *world) checkHistories(f *fault, sql truth) (wrong []string) {
	w.record.mu.Lock()
	histories := slices.Collect(maps.Values(w.record.histories))
	w.record.mu.Unlock()
	var mu sync.Mutex
	var all sync.WaitGroup
	slots := make(chan struct{}, 2)
	f.ends = map[string]int{}
	for _, h := range histories {
		f.ends[sql.packets[h.id].status]++
		if h.unanswered > 0 {
			continue // named already
		}
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			problem, undecided := h.check(sql.packets[h.id], f.slack(), f.lossy())
			mu.Lock()
			defer mu.Unlock()
			f.histories++
			if undecided {
				f.undecided++
			}
			if problem != "" {
				wrong = append(wrong, problem)
			}
		})
	}
	all.Wait()
	return wrong
}
