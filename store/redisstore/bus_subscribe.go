package redisstore

import (
	"context"
	"time"
)

// checkEvery is how often a link is checked. Each sentinelCheckEvery-th check asks the sentinels for the master.
const (
	checkEvery         = heartbeatEvery / 2
	sentinelCheckEvery = 4
)

// subscribe sends changes of subscriptions to Redis, and checks the link from time to time. On a new link it
// subscribes to the heartbeats last. So when a heartbeat arrives, all topics are subscribed.
func (l *link) subscribe(ctx context.Context) error {
	checks := time.NewTicker(checkEvery)
	defer checks.Stop()
	w := linkMonitor{link: l}
	beating := false
	for {
		changed, err := l.applyChanges(ctx)
		if err != nil {
			return err
		}
		if !changed && !beating {
			beating = true
			if err := l.sendSubscribe(ctx, true, l.shard.heartbeat); err != nil {
				return err
			}
		}
		if changed {
			l.shard.subscriptions.notify()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-l.shard.subscriptions.wake:
		case <-checks.C:
			if err := w.check(ctx); err != nil {
				return err
			}
		}
	}
}

// applyChanges sends the next changed subscriptions to Redis, and reports whether there were any.
func (l *link) applyChanges(ctx context.Context) (changed bool, err error) {
	subscribe, unsubscribe := l.shard.subscriptions.next()
	for _, topics := range [][]string{subscribe, unsubscribe} {
		for i, topic := range topics {
			topics[i] = l.shard.channel(topic)
		}
	}
	if len(subscribe) > 0 {
		err = l.sendSubscribe(ctx, true, subscribe...)
	}
	if err == nil && len(unsubscribe) > 0 {
		err = l.sendSubscribe(ctx, false, unsubscribe...)
	}
	return len(subscribe)+len(unsubscribe) > 0, err
}

// sendSubscribe writes one command that subscribes to these channels, or unsubscribes from them.
func (l *link) sendSubscribe(ctx context.Context, subscribe bool, channels ...string) error {
	sharded := l.shard.bus.sharded()
	switch {
	case subscribe && sharded:
		return l.sub.SSubscribe(ctx, channels...)
	case subscribe:
		return l.sub.Subscribe(ctx, channels...)
	case sharded:
		return l.sub.SUnsubscribe(ctx, channels...)
	default:
		return l.sub.Unsubscribe(ctx, channels...)
	}
}

// linkMonitor checks a link.
type linkMonitor struct {
	link       *link
	deliveries uint64 // value of link.deliveries at the last check
	checks     int
}

// check returns the reason to close the link, or nil.
func (w *linkMonitor) check(ctx context.Context) error {
	l := w.link
	// While the receiver handles one payload, the link cannot read. That must not count as silence of Redis.
	deliveries := l.deliveries.Load()
	if deliveries%2 == 1 && deliveries == w.deliveries {
		l.markHeard()
	}
	w.deliveries = deliveries
	if l.silent() > silentAfter {
		return errSilent
	}
	w.checks++
	if l.shard.bus.o.sentinel && w.checks%sentinelCheckEvery == 0 && l.dialer.masterMoved(ctx) {
		return errDemoted
	}
	return nil
}
