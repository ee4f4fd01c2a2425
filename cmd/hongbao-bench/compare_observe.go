package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hongbao/cmd/hongbao-bench/schemes"
)

// killed kills the process in the middle of the grabs, and starts another one on the same Redis and Postgres. It checks that
// every grab that was acknowledged before the kill is stored. The packets are small enough for every scheme.
func (c contest) killed(ctx context.Context) (check Check, err error) {
	w := c.few("kill", 8, 250_000_000)
	w.packets = 40
	process, e, _, err := c.begin(ctx, w)
	if err != nil {
		return check, err
	}
	t := newTally(w)
	half := len(t.attempts) / 2
	dying, stop := context.WithCancel(ctx)
	defer stop()
	var died time.Time
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for tick := time.NewTicker(time.Millisecond); ; <-tick.C { // until half of the grabs have begun, or play has returned
			if int(t.begun.Load()) >= half || dying.Err() != nil {
				tick.Stop()
				died = time.Now()
				process.Kill()
				stop()
				return
			}
		}
	}()
	if err := t.play(dying, process, c.budget/2); err != nil && ctx.Err() != nil {
		return check, err
	}
	stop()
	<-gone
	for i := range t.responses {
		t.responses[i].closed = t.responses[i].at.After(died) // an answer after the kill has reached no user
	}
	e, err = c.servers.twin(ctx, e)
	if err != nil {
		return check, err
	}
	next, err := c.scheme.Start(ctx, e)
	if err != nil {
		return check, err
	}
	b, _, err := t.caughtUp(ctx, next, c.late+time.Second)
	acknowledged := len(t.acknowledged())
	check = Check{Name: checkKill, Held: true, Detail: fmt.Sprintf("%d were acknowledged before, all are stored", acknowledged)}
	if lost := t.lost(b); lost > 0 {
		check.Held, check.Detail = false, fmt.Sprintf("%d were acknowledged before, %d of them have nothing", acknowledged, lost)
	}
	return check, errors.Join(err, next.Stop())
}

// refunded opens packets of five shares, lets users grab three shares of each, and checks the refunds after the deadline.
func (c contest) refunded(ctx context.Context) (check Check, err error) {
	w := c.few("refund", 5, 250_000_000)
	w.packets, w.ttl, w.grabbers = 6, c.limit, 3
	process, _, packets, err := c.begin(ctx, w)
	if err != nil {
		return check, err
	}
	defer func() { err = errors.Join(err, process.Stop()) }()
	deadline := time.Now().Add(c.limit)
	if err := newTally(w).play(ctx, process, c.limit/2); err != nil {
		return check, err
	}
	var should, refunded, left int64
	for late := deadline.Add(c.late); ; {
		b, err := readBooks(ctx, process, w)
		if err != nil {
			return check, err
		}
		should, refunded, left = refunds(packets, b)
		if left == 0 && time.Now().After(deadline) || time.Now().After(late) {
			break
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return check, ctx.Err()
		}
	}
	check = Check{Name: checkRefund, Held: left == 0 && refunded == should, Detail: fmt.Sprintf("to be refunded %s, refunded %s", yuan(should), yuan(refunded))}
	if refunded == 0 {
		check.Detail = fmt.Sprintf("%v after the deadline nothing of %s is refunded", c.late, yuan(should))
	}
	return check, nil
}

// refunds returns sums over all packets: the refunds that are due, the refunds that were made, and the money that is
// neither paid nor refunded.
func refunds(packets []schemes.Packet, b books) (should, refunded, left int64) {
	for n, p := range packets {
		should += p.Total()
		for _, paid := range b[n].Paid {
			should -= paid.Amount
		}
		refunded += b[n].Refunded
		left += b[n].Left
	}
	return should, refunded, left
}

// yuan formats an amount with two decimal places.
func yuan(amount int64) string { return fmt.Sprintf("%d.%02d", amount/100, amount%100) }
