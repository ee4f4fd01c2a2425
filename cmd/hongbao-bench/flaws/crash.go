package flaws

import (
	"context"
	"fmt"
	"sync"

	"github.com/redis/go-redis/v9"

	"hongbao/cmd/hongbao-bench/schemes"
)

// crashed describes a packet of 5 shares after a crash. The process died with three grabs in progress, and another
// process continued. Then users grabbed until no further grab could get a share.
type crashed struct {
	answered int // grabs that the process answered before it died
	lost     int // answered grabs that are not stored
	money    int64
	stranded int64 // money left in the table when every further grab is refused
	paid     int
}

func (c crashed) String() string {
	return fmt.Sprintf("of 5 shares 3 were grabbed when the process died, %d of them answered; afterwards %d of the answered users have nothing (%s), "+
		"%d shares are paid, %s is left that no user can get", c.answered, c.lost, money(c.money), c.paid, money(c.stranded))
}

func (c crashed) right() bool { return c.lost == 0 && c.stranded == 0 && c.paid == 5 }

// grabsAgain reports whether a user, one of the three, grabs again after the crash.
type grabsAgain func(user string) bool

// crash kills the process after it has decided the three grabs and before the database has stored them.
func crash(ctx context.Context, sc *scenario, again grabsAgain) (crashed, error) {
	s, err := sc.opened(ctx, packet("crash", 5, 1_000_000, 6*timeout))
	if err != nil {
		return crashed{}, err
	}
	three, t := userNames(0, 3), newAnswers()
	held := sc.engines.DB.Hold(0)
	grabs := t.atOnce(ctx, s, "crash", three)
	if err := decided(ctx, held, len(three), grabs); err != nil {
		return crashed{}, err
	}
	s.Kill()
	grabs.Wait()
	return afterwards(ctx, sc, t, again)
}

// decided waits until each of the grabs waits for the database. If the scheme answers before it stores, it waits until
// all grabs are answered and the storing waits for the database.
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

// afterwards starts another process, lets users grab again, and returns the state of the packet.
func afterwards(ctx context.Context, sc *scenario, t *answers, again grabsAgain) (c crashed, err error) {
	c.answered = len(t.amounts)
	s, err := sc.another(ctx)
	if err != nil {
		return c, err
	}
	later := newAnswers()
	for _, u := range userNames(0, 3) {
		if again(u) {
			later.grab(ctx, s, "crash", u)
		}
	}
	later.inTurn(ctx, s, "crash", userNames(10, 20))
	wait := timeout
	if !sc.ours() {
		wait /= 4 // a lost share never appears, and a queued one appears within a quarter of the time
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

func lostQueue(ctx context.Context, st *Environment) (Finding, error) {
	return crashFinding(ctx, st, "lua-split", everyone, func(c crashed) bool { return c.lost > 0 })
}

func threadDies(ctx context.Context, st *Environment) (Finding, error) {
	return crashFinding(ctx, st, "lua-list", everyone, func(c crashed) bool { return c.lost > 0 })
}

func crashAfterPop(ctx context.Context, st *Environment) (Finding, error) {
	return crashFinding(ctx, st, "redis-queue", butOne, func(c crashed) bool { return c.stranded > 0 })
}

func crashFinding(ctx context.Context, st *Environment, scheme string, again grabsAgain, flawed func(c crashed) bool) (Finding, error) {
	theirs, ours, err := both(ctx, st, scheme, func(ctx context.Context, sc *scenario) (crashed, error) { return crash(ctx, sc, again) })
	return Finding{Reproduced: flawed(theirs), Evidence: theirs.String(), Ours: ours.String(), OursPasses: ours.right()}, err
}

// gapAfterPop kills the scheme's process between two Redis commands of a grab. Our service has one script in their place, so
// its process is killed after the script.
func gapAfterPop(ctx context.Context, st *Environment) (Finding, error) {
	theirs, ours, err := both(ctx, st, "redis-queue-async", func(ctx context.Context, sc *scenario) (crashed, error) {
		if sc.ours() {
			return crash(ctx, sc, everyone)
		}
		s, err := sc.opened(ctx, packet("crash", 5, 1_000_000, 6*timeout))
		if err != nil {
			return crashed{}, err
		}
		sc.engines.Redis.AddHook(killBefore{"lpush"})
		t := newAnswers()
		t.inTurn(ctx, s, "crash", userNames(0, 3))
		s.Kill()
		return afterwards(ctx, sc, t, everyone)
	})
	return Finding{Reproduced: theirs.stranded > 0, Evidence: theirs.String(), Ours: ours.String(), OursPasses: ours.right()}, err
}

// killBefore is a hook of the Redis client. It fails the named command instead of sending it, as if the process had died just before.
type killBefore struct{ before string }

// DialHook implements redis.Hook.
func (killBefore) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (d killBefore) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if cmd.Name() == d.before {
			return schemes.ErrKilled
		}
		return next(ctx, cmd)
	}
}

// ProcessPipelineHook implements redis.Hook.
func (killBefore) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
