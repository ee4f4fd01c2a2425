package flaws

import (
	"context"
	"fmt"
	"time"

	"hongbao/cmd/hongbao-bench/schemes"
)

// refunds describes many packets that expire at about the same time.
type refunds struct {
	packets, wrong   int
	should, refunded int64
}

func (r refunds) String() string {
	return fmt.Sprintf("%d packets ended before two processes: %s was to be refunded, %s was; %d refunds are wrong", r.packets, money(r.should), money(r.refunded), r.wrong)
}

func doubleRefund(ctx context.Context, st *Environment) (Finding, error) {
	theirs, ours, err := both(ctx, st, "lua-split", func(ctx context.Context, sc *scenario) (r refunds, err error) {
		first, err := sc.start(ctx)
		if err != nil {
			return r, err
		}
		second, err := sc.another(ctx)
		if err != nil {
			return r, err
		}
		for round := 0; round < 3 && r.wrong == 0; round++ { // the flaw needs two reads at the same moment, which may take some rounds
			if err := r.play(ctx, round, first, second); err != nil {
				return r, err
			}
			if sc.ours() && round == 0 {
				break
			}
		}
		return r, nil
	})
	return Finding{
		Reproduced: theirs.refunded > theirs.should, Evidence: theirs.String(),
		Ours: ours.String(), OursPasses: ours.wrong == 0 && ours.refunded == ours.should && ours.packets > 0,
	}, err
}

func (r *refunds) play(ctx context.Context, round int, first, second *schemes.Instance) error {
	const packets, ttl = 20, 2 * time.Second
	var ids []schemes.Packet
	for n := range packets {
		p := packet(fmt.Sprintf("both-%d-%d", round, n), 5, 1_000_000, ttl)
		if err := first.Open(ctx, p); err != nil {
			return err
		}
		newAnswers().inTurn(ctx, second, p.ID, userNames(0, 1))
		ids = append(ids, p)
	}
	if err := sleep(ctx, ttl); err != nil {
		return err
	}
	for _, p := range ids {
		if _, err := book(ctx, first, p.ID, timeout, func(b schemes.Book) bool { return b.Left == 0 }); err != nil {
			return err
		}
	}
	if err := sleep(ctx, 300*time.Millisecond); err != nil { // time for a second refund, which comes at about the same moment
		return err
	}
	for _, p := range ids {
		b, err := first.Stored(ctx, p.ID)
		if err != nil {
			return err
		}
		should := p.Total() - sum(b)
		r.packets++
		r.should += should
		r.refunded += b.Refunded
		if b.Refunded != should {
			r.wrong++
		}
	}
	return nil
}

// refundOvertakes delays the SQL of one process. The packet expires in another process, which refunds it before the
// grabs of the first are stored.
func refundOvertakes(ctx context.Context, st *Environment) (Finding, error) {
	type result struct {
		ended

		answers int64
	}
	theirs, ours, err := both(ctx, st, "lua-split", func(ctx context.Context, sc *scenario) (r result, err error) {
		slow, err := sc.start(ctx)
		if err != nil {
			return r, err
		}
		other, err := sc.another(ctx)
		if err != nil {
			return r, err
		}
		p := packet("overtaken", 5, 1_000_000, time.Second)
		if err := slow.Open(ctx, p); err != nil {
			return r, err
		}
		deadline, t := time.Now().Add(p.TTL), newAnswers()
		held := sc.engines.DB.Hold(0)
		defer held.Release()
		grabs := t.atOnce(ctx, slow, p.ID, userNames(0, 3))
		if err := decided(ctx, held, 3, grabs); err != nil {
			return r, err
		}
		if _, err := end(ctx, other, p, deadline); err != nil {
			return r, err
		}
		held.Release()
		grabs.Wait()
		r.Book, err = book(ctx, other, p.ID, timeout, func(b schemes.Book) bool { return len(b.Paid) >= 3 })
		r.total, r.answers = p.Total(), t.sum()
		return r, err
	})
	say := func(r result) string {
		return fmt.Sprintf("answered %s; %s; paid and refunded together %s", money(r.answers), r.String(), money(sum(r.Book)+r.Refunded))
	}
	return Finding{
		Reproduced: sum(theirs.Book)+theirs.Refunded > theirs.total,
		Evidence:   say(theirs), Ours: say(ours), OursPasses: ours.right() && len(ours.Paid) == 3,
	}, err
}
