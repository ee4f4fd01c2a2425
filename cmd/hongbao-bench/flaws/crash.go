package flaws

import (
	"context"
	"fmt"
	"sync"

	"github.com/redis/go-redis/v9"

	"hongbao/cmd/hongbao-bench/schemes"
)

// crashed is what a packet in 5 looks like after the process has died under three who grabbed, another one has gone on,
// and everybody who might get something has asked.
type crashed struct {
	told     int // by the process that died
	lost     int // of these, not stored
	money    int64
	stranded int64 // in the table, while whoever asks is refused
	paid     int
}

func (c crashed) String() string {
	return fmt.Sprintf("of 5 shares 3 were grabbed when the process died, %d of them told; afterwards %d of those told have nothing (%s), "+
		"%d shares are paid, %s is left that nobody can get", c.told, c.lost, money(c.money), c.paid, money(c.stranded))
}

func (c crashed) right() bool { return c.lost == 0 && c.stranded == 0 && c.paid == 5 }

// asks says who of the three asks again: not all do.
type asks func(user string) bool

// crash kills the process at the moment when it has decided, and only the database is left to be asked.
func crash(ctx context.Context, sc *scene, again asks) (crashed, error) {
	s, err := sc.opened(ctx, packet("crash", 5, 1_000_000, 6*patience))
	if err != nil {
		return crashed{}, err
	}
	three, t := people(0, 3), newTold()
	held := sc.engines.DB.Hold(0)
	grabs := t.atOnce(ctx, s, "crash", three)
	if err := decided(ctx, held, len(three), grabs); err != nil {
		return crashed{}, err
	}
	s.Kill()
	grabs.Wait()
	return afterwards(ctx, sc, t, again)
}

// decided returns when each of so many grabs has come to the database; or when all have been answered, and whoever
// stores it later has come there.
func decided(ctx context.Context, held *schemes.Held, grabs int, all *sync.WaitGroup) error {
	answered := make(chan struct{})
	go func() {
		all.Wait()
		close(answered)
	}()
	for n := 0; n < grabs; {
		select {
		case <-held.Waiting():
			n++
			continue
		case <-answered:
		case <-ctx.Done():
			return ctx.Err()
		}
		if n > 0 {
			return nil
		}
		select {
		case <-held.Waiting():
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// afterwards another process goes on.
func afterwards(ctx context.Context, sc *scene, t *told, again asks) (c crashed, err error) {
	c.told = len(t.amounts)
	s, err := sc.another(ctx)
	if err != nil {
		return c, err
	}
	later := newTold()
	for _, u := range people(0, 3) {
		if again(u) {
			later.grab(ctx, s, "crash", u)
		}
	}
	later.inTurn(ctx, s, "crash", people(10, 20))
	wait := patience
	if !sc.ours() {
		wait /= 4 // what is gone does not come; whatever still waits does, within this
	}
	b, err := book(ctx, s, "crash", wait, func(b schemes.Book) bool { return len(b.Paid) == 5 })
	if err != nil {
		return c, err
	}
	c.lost, c.money = t.lost(b)
	c.paid, c.stranded = len(b.Paid), b.Left
	return c, nil
}

func everyone(string) bool { return true }
func butOne(u string) bool { return u != "u0" }

func lostQueue(ctx context.Context, st *Stage) (Finding, error) {
	return crashFinding(ctx, st, "lua-split", everyone, func(c crashed) bool { return c.lost > 0 })
}

func threadDies(ctx context.Context, st *Stage) (Finding, error) {
	return crashFinding(ctx, st, "lua-list", everyone, func(c crashed) bool { return c.lost > 0 })
}

func crashAfterPop(ctx context.Context, st *Stage) (Finding, error) {
	return crashFinding(ctx, st, "redis-queue", butOne, func(c crashed) bool { return c.stranded > 0 })
}

func crashFinding(ctx context.Context, st *Stage, scheme string, again asks, flawed func(c crashed) bool) (Finding, error) {
	theirs, ours, err := both(ctx, st, scheme, func(ctx context.Context, sc *scene) (crashed, error) { return crash(ctx, sc, again) })
	return Finding{Reproduced: flawed(theirs), Evidence: theirs.String(), Ours: ours.String(), OursPasses: ours.right()}, err
}

// gapAfterPop kills theirs between two commands of Redis. Ours has one script there, so it dies after that.
func gapAfterPop(ctx context.Context, st *Stage) (Finding, error) {
	theirs, ours, err := both(ctx, st, "redis-queue-async", func(ctx context.Context, sc *scene) (crashed, error) {
		if sc.ours() {
			return crash(ctx, sc, everyone)
		}
		s, err := sc.opened(ctx, packet("crash", 5, 1_000_000, 6*patience))
		if err != nil {
			return crashed{}, err
		}
		sc.engines.Redis.AddHook(dies{"lpush"})
		t := newTold()
		t.inTurn(ctx, s, "crash", people(0, 3))
		s.Kill()
		return afterwards(ctx, sc, t, everyone)
	})
	return Finding{Reproduced: theirs.stranded > 0, Evidence: theirs.String(), Ours: ours.String(), OursPasses: ours.right()}, err
}

// dies is a process that does not live to send this command.
type dies struct{ before string }

// DialHook implements redis.Hook.
func (dies) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (d dies) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if cmd.Name() == d.before {
			return schemes.ErrKilled
		}
		return next(ctx, cmd)
	}
}

// ProcessPipelineHook implements redis.Hook.
func (dies) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
