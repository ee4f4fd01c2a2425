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
	"github.com/redis/go-redis/v9"
)

const (
	readyLimit  = 30 * time.Second
	answerLimit = 45 * time.Second // a client of centrifuge-go waits up to 20 s before it reconnects
	redisLimit  = 45 * time.Second // recovery waits 5 s, and longer after each failure; a close that failed may wait 30 s
	calmLimit   = 40 * time.Second // for journals: a client notices a dead connection after 35 s
)

// closeLimit bounds how long a packet is open after its deadline, or after the requests are answered. On Citus a transaction that a dead
// node has prepared holds its locks until Citus ends it, for up to a minute (citus.recover_2pc_interval). A close that failed
// meanwhile may wait another 30 s.
func closeLimit() time.Duration {
	if *citus {
		return 90 * time.Second
	}
	return 5 * time.Second
}

// tooLate is the violation that a packet is open for too long. Only this one may be the fault of a busy machine.
const tooLate = "packet %s is open %d ms after its deadline"

// truth is what SQL has.
type truth struct {
	rooms       map[string][]storedEntry // by seq, from 1
	claims      map[win]bool
	packets     map[string]stored
	memberships map[membership]bool
	entered     map[entry]bool
}

// storedEntry is an entry as SQL has it.
type storedEntry struct {
	line

	kind, user, key string
}

// check waits until the world is calm after a fault, and returns all that is wrong.
func (w *world) check(f *fault) (wrong []string) {
	var sql truth
	for _, step := range []struct {
		name string
		run  func() []string
	}{
		{"instances are ready", func() []string { return w.awaitReady(readyLimit) }},
		{"requests are answered", func() []string { return w.gate.awaitAnswers(answerLimit) }},
		{"packets are closed", w.checkClosed},
		{"Redis has no open packet and no grant", w.checkRedis},
		{"books are audited", func() []string { return w.checkBooks(f) }},
		{"SQL is read", func() (failed []string) {
			var err error
			if sql, err = w.readTruth(); err != nil {
				failed = []string{"cannot read SQL: " + err.Error()}
			}
			return failed
		}},
		{"answers are compared", func() []string {
			before := w.record.size()
			defer func() { f.lost = before - w.record.size() }()
			return w.record.check(sql)
		}},
		{"what SQL has lost is gone", func() []string { return w.checkLost() }},
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
func (w *world) checkClosed() (wrong []string) {
	for calm := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		late, open, err := w.openPackets(calm)
		switch {
		case err != nil && time.Since(calm) > readyLimit:
			return []string{"cannot read open packets: " + err.Error()}
		case err == nil && len(late) > 0:
			return late
		case err == nil && open == 0:
			return nil
		}
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
			if limit := max(expires, calm.UnixMilli()) + closeLimit().Milliseconds(); time.Now().UnixMilli() > limit {
				late = append(late, fmt.Sprintf(tooLate, id, time.Now().UnixMilli()-expires))
			}
			return nil
		})
		return err
	})
	return late, open, err
}

// checkRedis waits until Redis has no packet that must be closed, and no grant that is not settled. It may have packets that SQL has lost.
func (w *world) checkRedis() []string {
	for deadline := time.Now().Add(redisLimit); ; time.Sleep(100 * time.Millisecond) {
		var held []string
		for _, server := range w.redisServers() { // a replica must have nothing, too
			c := redisClient(server)
			held = slices.Concat(held, listed(w.ctx, c, "*:due"), listed(w.ctx, c, "*:outbox"))
			_ = c.Close()
		}
		if len(held) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return []string{fmt.Sprintf("%d packets and grants stay in Redis (packet; or time, packet, users and shares): %q", len(held), held)}
		}
	}
}

// listed returns what is in the sorted sets with these keys.
func listed(ctx context.Context, c *redis.Client, keys string) (held []string) {
	all := c.Scan(ctx, 0, keys, 1000).Iterator()
	for all.Next(ctx) {
		members, err := c.ZRange(ctx, all.Val(), 0, -1).Result()
		for _, member := range members {
			if !strings.HasPrefix(member, "#") { // a filler
				held = append(held, member)
			}
		}
		if err != nil {
			held = append(held, err.Error())
		}
	}
	if err := all.Err(); err != nil {
		held = append(held, err.Error())
	}
	return held
}

// checkBooks runs `hongbao audit`. All money is that of the users, and none is in a packet. Only a poisoned row, or a packet that SQL has
// lost, brings a claim into quarantine.
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
	if report.Quarantined > w.quarantined && !f.has(poisons) && !f.has(loses) {
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
	sql = truth{rooms: map[string][]storedEntry{}, claims: map[win]bool{}, packets: map[string]stored{}, memberships: map[membership]bool{}, entered: map[entry]bool{}}
	err = w.query(func(c *pgx.Conn) error {
		return cmp.Or(sql.readEntries(w.ctx, c), sql.readPackets(w.ctx, c), sql.readClaims(w.ctx, c), sql.readMembers(w.ctx, c), sql.readEntered(w.ctx, c))
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
	rows, _ := c.Query(ctx, `select id, status, expires_at, coalesce(closed_at, 0), coalesce(granted, 0) from packets left join (
		select packet_id as id, count(distinct share_no) as granted
		from (select packet_id, share_no from claims union all select packet_id, share_no from quarantine) s group by packet_id) g using (id)`)
	var id string
	var p stored
	_, err := pgx.ForEachRow(rows, []any{&id, &p.status, &p.expires, &p.closed, &p.granted}, func() error {
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

func (sql *truth) readEntered(ctx context.Context, c *pgx.Conn) error {
	rows, _ := c.Query(ctx, "select packet_id, user_id, wave from participants")
	var e entry
	_, err := pgx.ForEachRow(rows, []any{&e.packet, &e.user, &e.wave}, func() error {
		sql.entered[e] = true
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

// checkHistories checks for each packet of the fault that one order of all operations explains the answers.
func (w *world) checkHistories(f *fault, sql truth) (wrong []string) {
	w.record.mu.Lock()
	histories, loss := slices.Collect(maps.Values(w.record.histories)), w.record.loss
	w.record.mu.Unlock()
	var mu sync.Mutex
	var all sync.WaitGroup
	slots := make(chan struct{}, 2)
	f.ends = map[string]int{}
	for _, h := range histories {
		f.ends[sql.packets[h.id].status]++
		if h.unanswered > 0 || h.sent < loss.answered {
			continue // named already, or SQL may have lost some of it
		}
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			problem, undecided := h.check(sql.packets[h.id], f.rules())
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
