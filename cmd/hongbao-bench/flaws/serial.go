package flaws

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/cmd/hongbao-bench/schemes"
)

func leaseOutlived(ctx context.Context, st *Stage) (Finding, error) {
	theirs, ours, err := both(ctx, st, "lock", func(ctx context.Context, sc *scene) (ended, error) {
		if !sc.ours() {
			sc.who.Make = func(e schemes.Engines) (schemes.Scheme, error) {
				return schemes.NewLock(e.Redis, e.DB, time.Second/2), nil
			}
		}
		p := packet("lease", 1, 10_000, 6*patience)
		slow, err := sc.opened(ctx, p)
		if err != nil {
			return ended{}, err
		}
		other, err := sc.another(ctx)
		if err != nil {
			return ended{}, err
		}
		reads := 1 // that the lock's holder has done when he is held up
		if sc.ours() {
			reads = 0
		}
		held, t := sc.engines.DB.Hold(reads), newTold()
		defer held.Release()
		first := t.atOnce(ctx, slow, p.ID, people(0, 1))
		if err := decided(ctx, held, 1, first); err != nil {
			return ended{}, err
		}
		t.inTurn(ctx, other, p.ID, people(1, 2)) // comes in when the lease is over
		held.Release()
		first.Wait()
		b, err := book(ctx, other, p.ID, patience/10, func(b schemes.Book) bool { return len(b.Paid) == 2 })
		return ended{Book: b, total: p.Total()}, err
	})
	say := func(e ended) string {
		return fmt.Sprintf("a packet of 1 share is paid %d times; ", len(e.Paid)) + e.String()
	}
	return Finding{
		Reproduced: len(theirs.Paid) == 2, Evidence: "a lease of 0.5 s, and a holder whose SQL takes longer: " + say(theirs),
		Ours: say(ours), OursPasses: len(ours.Paid) == 1 && sum(ours.Book) == ours.total,
	}, err
}

// queueing is how many of ten who grab by another process are answered while one grab hangs before its commit.
type queueing struct{ answered int }

func (q queueing) String() string {
	return fmt.Sprintf("while one grab hangs before its commit, %d of 10 others of the same packet are answered within a second", q.answered)
}

func serialFinding(theirs, ours queueing, err error) (Finding, error) {
	return Finding{Reproduced: theirs.answered == 0, Evidence: theirs.String(), Ours: ours.String(), OursPasses: ours.answered == 10}, err
}

// others grab, and give up after a second.
func others(ctx context.Context, s schemes.Scheme, packet string) queueing {
	soon, stop := context.WithTimeout(ctx, time.Second)
	defer stop()
	t := newTold()
	t.atOnce(soon, s, packet, people(10, 20)).Wait()
	return queueing{t.heard[schemes.Got]}
}

func lockSerial(ctx context.Context, st *Stage) (Finding, error) {
	theirs, ours, err := both(ctx, st, "lock", func(ctx context.Context, sc *scene) (queueing, error) {
		reads := 1
		if sc.ours() {
			reads = 0
		}
		return hanging(ctx, sc, reads)
	})
	return serialFinding(theirs, ours, err)
}

// hanging has one grab hang when it has read what it reads.
func hanging(ctx context.Context, sc *scene, reads int) (q queueing, err error) {
	slow, err := sc.opened(ctx, packet("serial", 20, 1000, 6*patience))
	if err != nil {
		return q, err
	}
	other, err := sc.another(ctx)
	if err != nil {
		return q, err
	}
	held, t := sc.engines.DB.Hold(reads), newTold()
	defer held.Release()
	first := t.atOnce(ctx, slow, "serial", people(0, 1))
	if err := decided(ctx, held, 1, first); err != nil {
		return q, err
	}
	q = others(ctx, other, "serial")
	held.Release()
	first.Wait()
	return q, nil
}

func rowLockSerial(ctx context.Context, st *Stage) (Finding, error) {
	theirs, ours, err := both(ctx, st, "pessimistic", func(ctx context.Context, sc *scene) (q queueing, err error) {
		if sc.ours() {
			return hanging(ctx, sc, 0)
		}
		s, err := sc.opened(ctx, packet("serial", 20, 1000, 6*patience))
		if err != nil {
			return q, err
		}
		err = sc.engines.DB.Transact(ctx, func(tx pgx.Tx) error { // what a grab does at first, and no more
			if _, err := tx.Exec(ctx, `select from activity where id = 'serial' for update`); err != nil {
				return err
			}
			q = others(ctx, s, "serial")
			return nil
		})
		return q, err
	})
	return serialFinding(theirs, ours, err)
}
