package chaos

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"time"

	"hongbao/store/loopback"
)

// kind is a kind of fault.
type kind struct {
	name string
	part part
	// run causes the fault, and returns when what was broken is whole again.
	run func(ctx context.Context, w *world, dice *rand.Rand) error

	layout  layout              // the layout of Redis that it needs; "": any
	forgets bool                // Redis loses grants, and the notes of the newest commits
	moves   bool                // another server of Postgres takes over
	loses   bool                // SQL loses what was acknowledged lately: a new epoch may begin
	poisons bool                // a granted share may be put into quarantine, and is then refunded
	steps   bool                // the clock of Redis, which judges deadlines, steps back
	slack   time.Duration       // how far the clocks may differ from the machine's
	unable  func(*world) string // why this machine cannot cause it; "" or nil: it can
}

// part is what a fault breaks. Two faults at once break different parts.
type part string

const (
	processes part = "instances"
	pool      part = "Redis"
	sql       part = "Postgres"
	rows      part = "rows"
	clocks    part = "clocks"
	links     part = "link to " // and to what
)

// kinds returns all kinds of faults.
func kinds() []kind {
	list := []kind{
		{name: "one instance killed", part: processes, run: killInstances(1)},
		{name: "two instances killed", part: processes, run: killInstances(2)},
		{name: "all instances killed", part: processes, run: killInstances(instances)},
		{name: "one instance frozen", part: processes, run: freezeInstance},
		{name: "one instance stopped in order", part: processes, run: stopInstance},
		{name: "all restarted without Redis", part: processes, layout: oneRedis, run: restartWithoutRedis, forgets: true},
		{name: "Redis flushed", part: pool, layout: oneRedis, run: flushRedis, forgets: true},
		{name: "Redis killed, its file kept", part: pool, layout: oneRedis, run: killRedis},
		{name: "Redis killed, its file lost", part: pool, layout: oneRedis, run: killRedisWithFile, forgets: true},
		{name: "Redis killed, an older file", part: pool, layout: oneRedis, run: killRedisToOlderFile, forgets: true},
		{name: "Redis paused", part: pool, layout: oneRedis, run: pauseRedis},
		{name: "Redis without memory", part: pool, layout: oneRedis, run: withSetting("config set maxmemory 1", "config set maxmemory 0")},
		{name: "Redis refuses scripts", part: pool, layout: oneRedis, run: withSetting("acl setuser default -eval -evalsha", "acl setuser default +eval +evalsha")},
		{name: "Redis refuses the keys of packets", part: pool, layout: oneRedis, run: withSetting("acl setuser default resetkeys ~on:* ~rate:* ~notes", "acl setuser default allkeys")},
		{name: "clients of Redis paused", part: pool, layout: oneRedis, run: withSetting("client pause 30000 write", "client unpause")},
		{name: "two masters of Redis", part: pool, layout: oneRedis, run: splitRedis, forgets: true},
		{name: "stale replica of Redis promoted and undone", part: pool, layout: oneRedis, run: promoteStaleReplica, forgets: true},
		{name: "slots of Redis moved", part: pool, layout: redisCluster, run: moveSlots},
		{name: "Sentinel failover, master killed", part: pool, layout: redisSentinel, run: failOver((*loopback.Redis).Kill, restartRedis), forgets: true},
		{name: "Sentinel failover, master paused", part: pool, layout: redisSentinel, run: failOver((*loopback.Redis).Pause, resumeRedis), forgets: true},
		{name: "sessions of Postgres ended", part: sql, run: endSessions, unable: needsOnePostgres},
		{name: "Postgres killed", part: sql, run: killPostgres},
		{name: "Postgres paused", part: sql, run: pausePostgres},
		{name: "PgBouncer restarted", part: sql, run: restartBouncer, unable: needsOnePostgres},
		{name: "synchronous standby promoted", part: sql, run: promote, moves: true, unable: needsOnePostgres},
		{name: "synchronous standby killed", part: sql, run: killStandby, unable: needsOnePostgres},
		{name: "synchronous standby paused", part: sql, run: pauseStandby, unable: needsOnePostgres},
		{name: "disk of Postgres full", part: sql, run: fillDisk, unable: needsSmallDisk},
		{name: "rows locked", part: rows, run: lockRows},
		{name: "table locked", part: rows, run: lockTable},
		{name: "rows of one user poisoned", part: rows, run: poisonRows, poisons: true, unable: needsOnePostgres},
		{name: "clock of an instance off", part: clocks, run: shiftClock, slack: 8 * time.Second},
		{name: "clock of an instance steps back", part: clocks, run: stepClockBack, slack: 8 * time.Second},
		{name: "clock of Redis off", part: clocks, layout: oneRedis, run: shiftServer(func(w *world) *loopback.Clock { return w.redisClock }), steps: true, slack: 8 * time.Second, unable: needsFaketime},
		{name: "clock of Postgres off", part: clocks, run: shiftServer(func(w *world) *loopback.Clock { return w.postgres.clock }), unable: needsPostgresClock},
		{name: "asynchronous standby promoted", part: sql, run: promoteAsync, loses: true, unable: needsOnePostgres},
		{name: "Postgres restored from a backup", part: sql, run: restoreBackup, loses: true, unable: needsOnePostgres},
		{name: "worker killed", part: sql, run: killWorker, unable: needsCitus},
		{name: "worker paused", part: sql, run: pauseWorker, unable: needsCitus},
		{name: "shards moved", part: rows, run: moveShards, unable: needsCitus},
	}
	for _, l := range []struct {
		name   string
		layout layout
		of     func(*instance) *loopback.Proxy
	}{
		{"Redis", oneRedis, func(i *instance) *loopback.Proxy { return i.toRedis }},
		{"Postgres", "", func(i *instance) *loopback.Proxy { return i.toPostgres }},
		{"clients", "", func(i *instance) *loopback.Proxy { return i.toClients }},
	} {
		for _, way := range []struct {
			name string
			do   func(ctx context.Context, p *loopback.Proxy, dice *rand.Rand) error
		}{
			{"cut", cut}, {"slow", delay}, {"half open", halfOpen}, {"without replies", dropReplies}, {"stopped in mid-message", tear},
		} {
			list = append(list, kind{name: "link to " + l.name + " " + way.name, part: links + part(l.name), layout: l.layout, run: func(ctx context.Context, w *world, dice *rand.Rand) error {
				p := l.of(w.instanceAt(dice))
				err := way.do(ctx, p, dice)
				if l.name == "clients" {
					p.Cut() // otherwise a client may take 35 s to notice that its connection is dead
				}
				return err
			}})
		}
	}
	return list
}

// between draws a duration.
func between(dice *rand.Rand, from, to time.Duration) time.Duration {
	return from + time.Duration(dice.Int64N(int64(to-from)))
}

func cut(ctx context.Context, p *loopback.Proxy, dice *rand.Rand) error {
	return times(ctx, dice, p.Cut)
}

func tear(ctx context.Context, p *loopback.Proxy, dice *rand.Rand) error {
	return times(ctx, dice, p.Tear)
}

// times does something up to five times in a row.
func times(ctx context.Context, dice *rand.Rand, do func()) error {
	for range 2 + dice.IntN(4) {
		do()
		if err := pause(ctx, between(dice, 50*time.Millisecond, 800*time.Millisecond)); err != nil {
			return err
		}
	}
	return nil
}

func delay(ctx context.Context, p *loopback.Proxy, dice *rand.Rand) error {
	p.Delay(between(dice, 5*time.Millisecond, 300*time.Millisecond))
	defer p.Delay(0)
	return pause(ctx, between(dice, time.Second, 4*time.Second))
}

func halfOpen(ctx context.Context, p *loopback.Proxy, dice *rand.Rand) error {
	p.Swallow(true)
	defer p.Swallow(false)
	return pause(ctx, between(dice, time.Second, 5*time.Second))
}

func dropReplies(ctx context.Context, p *loopback.Proxy, dice *rand.Rand) error {
	p.DropReplies(true)
	defer p.DropReplies(false)
	return pause(ctx, between(dice, 500*time.Millisecond, 4*time.Second))
}

// needsSmallDisk says why no disk can be filled.
func needsSmallDisk(w *world) string {
	if w.postgres.citus != nil {
		return needsOnePostgres(w)
	}
	if !w.postgres.limited {
		return "needs the right to mount a small file system"
	}
	return ""
}

// needsFaketime says why the clocks of other programs cannot be wrong.
func needsFaketime(w *world) string {
	if w.redisClock == nil {
		return "needs libfaketime"
	}
	return ""
}

// needsPostgresClock says why the clock of Postgres cannot be wrong.
func needsPostgresClock(w *world) string {
	return cmp.Or(needsOnePostgres(w), needsFaketime(w))
}

// needsOnePostgres says why a fault of standbys, backups, triggers or clocks is left out.
func needsOnePostgres(w *world) string {
	if w.postgres.citus != nil {
		return "is not made on Citus"
	}
	return ""
}

func needsCitus(w *world) string {
	if w.postgres.citus == nil {
		return "needs -chaos.citus"
	}
	return ""
}

// shiftClock makes one instance's clock wrong for a while, by up to 7 s.
func shiftClock(ctx context.Context, w *world, dice *rand.Rand) error {
	return w.withClock(ctx, w.instanceAt(dice), drawShift(dice), between(dice, 2*time.Second, 5*time.Second))
}

// drawShift draws how wrong a clock is: forwards or backwards, sometimes by more than the 5 s that hongbao bears.
func drawShift(dice *rand.Rand) time.Duration {
	shift := between(dice, 4*time.Second, 7*time.Second)
	if dice.IntN(2) == 0 {
		shift = -shift
	}
	return shift
}

// shiftServer makes the clock of Redis, or that of Postgres, wrong for a while.
func shiftServer(of func(*world) *loopback.Clock) func(context.Context, *world, *rand.Rand) error {
	return func(ctx context.Context, w *world, dice *rand.Rand) error {
		clock := of(w)
		err := clock.Shift(drawShift(dice))
		_ = pause(ctx, between(dice, 2*time.Second, 5*time.Second)) // the clock is put right in any case
		err = errors.Join(err, clock.Shift(0))
		return errors.Join(err, pause(ctx, 1200*time.Millisecond)) // until each process has noticed
	}
}

// stepClockBack makes one instance's clock too fast in small steps, and then right at once.
func stepClockBack(ctx context.Context, w *world, dice *rand.Rand) error {
	i := w.instanceAt(dice)
	for step := range 5 {
		if err := w.withClock(ctx, i, time.Duration(step)*time.Second, between(dice, 200*time.Millisecond, 700*time.Millisecond)); err != nil {
			return err
		}
	}
	return nil
}

// withClock shifts the clock for a while.
func (w *world) withClock(ctx context.Context, i *instance, shift, hold time.Duration) error {
	if err := os.WriteFile(i.clock, []byte(shift.String()), 0o644); err != nil {
		return err
	}
	err := pause(ctx, hold)
	return errors.Join(err, os.WriteFile(i.clock, []byte("0s"), 0o644))
}

// chosen returns those of the kinds that this machine can cause, and the names of the others with the reasons.
func chosen(w *world, list []kind) (able []kind, left []string) {
	for _, k := range list {
		why := ""
		if k.unable != nil {
			why = k.unable(w)
		}
		if why == "" {
			able = append(able, k)
		} else {
			left = append(left, k.name+": "+why)
		}
	}
	return able, left
}
