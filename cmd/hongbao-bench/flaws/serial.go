package flaws

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/cmd/hongbao-bench/schemes"
)

func leaseOutlived(ctx context.Context, st *Environment) (Finding, error) {
	theirs, ours, err := both(ctx, st, "lock", func(ctx context.Context, sc *scenario) (ended, error) {
		if !sc.ours() {
			sc.scheme.Make = func(e schemes.Engines) (schemes.Scheme, error) {
				return schemes.NewLock(e.Redis, e.DB, time.Second/2), nil
			}
		}
		p := packet("lease", 1, 10_000, 6*timeout)
		slow, err := sc.opened(ctx, p)
		if err != nil {
			return ended{}, err
		}
		other, err := sc.another(ctx)
		if err != nil {
			return ended{}, err
		}
		reads := 1 // number of reads after which the lock's holder hangs
		if sc.ours() {
			reads = 0
		}
		held, t := sc.engines.DB.Hold(reads), newAnswers()
		defer held.Release()
		first := t.atOnce(ctx, slow, p.ID, userNames(0, 1))
		if err := decided(ctx, held, 1, first); err != nil {
			return ended{}, err
		}
		t.inTurn(ctx, other, p.ID, userNames(1, 2)) // its grab gets the lock when the lease of the hanging holder has ended
		held.Release()
		first.Wait()
		b, err := book(ctx, other, p.ID, timeout/10, func(b schemes.Book) bool { return len(b.Paid) == 2 })
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

// queueing counts how many of ten grabs get a share while another grab of the packet hangs before its commit.
type queueing struct{ answered int }

func (q queueing) String() string {
	return fmt.Sprintf("while one grab hangs before its commit, %d of 10 others of the same packet are answered within a second", q.answered)
}

func serialFinding(theirs, ours queueing, err error) (Finding, error) {
	return Finding{Reproduced: theirs.answered == 0, Evidence: theirs.String(), Ours: ours.String(), OursPasses: ours.answered == 10}, err
}

// others lets ten users grab at the same time. After a second the grabs without an answer are given up.
func others(ctx context.Context, s schemes.Scheme, packet string) queueing {
	soon, stop := context.WithTimeout(ctx, time.Second)
	defer stop()
	t := newAnswers()
	t.atOnce(soon, s, packet, userNames(10, 20)).Wait()
	return queueing{t.verdicts[schemes.Got]}
}

func lockSerial(ctx context.Context, st *Environment) (Finding, error) {
	theirs, ours, err := both(ctx, st, "lock", func(ctx context.Context, sc *scenario) (queueing, error) {
		reads := 1
		if sc.ours() {
			reads = 0
		}
		return hanging(ctx, sc, reads)
	})
	return serialFinding(theirs, ours, err)
}

// hanging lets the statements of one grab hang after this number of reads, and lets other users grab meanwhile.
func hanging(ctx context.Context, sc *scenario, reads int) (q queueing, err error) {
	slow, err := sc.opened(ctx, packet("serial", 20, 1000, 6*timeout))
	if err != nil {
		return q, err
	}
	other, err := sc.another(ctx)
	if err != nil {
		return q, err
	}
	held, t := sc.engines.DB.Hold(reads), newAnswers()
	defer held.Release()
	first := t.atOnce(ctx, slow, "serial", userNames(0, 1))
	if err := decided(ctx, held, 1, first); err != nil {
		return q, err
	}
	q = others(ctx, other, "serial")
	held.Release()
	first.Wait()
	return q, nil
}

func rowLockSerial(ctx context.Context, st *Environment) (Finding, error) {
	theirs, ours, err := both(ctx, st, "pessimistic", func(ctx context.Context, sc *scenario) (q queueing, err error) {
		if sc.ours() {
			return hanging(ctx, sc, 0)
		}
		s, err := sc.opened(ctx, packet("serial", 20, 1000, 6*timeout))
		if err != nil {
			return q, err
		}
		err = sc.engines.DB.Transact(ctx, func(tx pgx.Tx) error { // only the first step of a grab
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
