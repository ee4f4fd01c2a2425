package redisstore

import (
	"context"
	"time"
)

// lookEvery is how often a line is looked after; sentinels are asked for the master at each fourth look.
const (
	lookEvery   = beatEvery / 2
	asksMasters = 4
)

// subscribe applies what is wanted, and only then has our heart heard: when it is, all that was wanted is subscribed.
func (n *line) subscribe(ctx context.Context) error {
	looks := time.NewTicker(lookEvery)
	defer looks.Stop()
	w := watch{line: n}
	beating := false
	for {
		changed, err := n.applyWants(ctx)
		if err != nil {
			return err
		}
		if !changed && !beating {
			beating = true
			if err := n.order(ctx, true, n.lane.beat); err != nil {
				return err
			}
		}
		if changed {
			n.lane.wants.ring()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-n.lane.wants.wake:
		case <-looks.C:
			if err := w.look(ctx); err != nil {
				return err
			}
		}
	}
}

// applyWants writes one batch of changes, if there are any.
func (n *line) applyWants(ctx context.Context) (changed bool, err error) {
	subscribe, unsubscribe := n.lane.wants.next()
	for _, topics := range [][]string{subscribe, unsubscribe} {
		for i, topic := range topics {
			topics[i] = n.lane.channel(topic)
		}
	}
	if len(subscribe) > 0 {
		err = n.order(ctx, true, subscribe...)
	}
	if err == nil && len(unsubscribe) > 0 {
		err = n.order(ctx, false, unsubscribe...)
	}
	return len(subscribe)+len(unsubscribe) > 0, err
}

// order writes one command.
func (n *line) order(ctx context.Context, subscribe bool, channels ...string) error {
	sharded := n.lane.bus.sharded()
	switch {
	case subscribe && sharded:
		return n.sub.SSubscribe(ctx, channels...)
	case subscribe:
		return n.sub.Subscribe(ctx, channels...)
	case sharded:
		return n.sub.SUnsubscribe(ctx, channels...)
	default:
		return n.sub.Unsubscribe(ctx, channels...)
	}
}

// watch looks after a line.
type watch struct {
	line  *line
	turns uint64 // of the line, at the last look
	looks int
}

// look gives the reason to give the line up, if there is one.
func (w *watch) look(ctx context.Context) error {
	n := w.line
	// While the receiver holds us up nothing can be heard: that is no silence of Redis.
	turns := n.turns.Load()
	if turns%2 == 1 && turns == w.turns {
		n.hear()
	}
	w.turns = turns
	if n.silent() > silence {
		return errSilent
	}
	w.looks++
	if n.lane.bus.o.sentinel && w.looks%asksMasters == 0 && n.dialer.astray(ctx) {
		return errDemoted
	}
	return nil
}
