package bus

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// topicsPerCommand is the most topics in one SUBSCRIBE.
const topicsPerCommand = 512

// slowAfter is how long Redis may take to confirm a subscription before Receiver.Suspect is called. Messages published before
// the confirmation may be lost. The hub itself compares a new topic with the store twice in about the first second after
// subscribing.
const slowAfter = 500 * time.Millisecond

// subscriptions are the topics that this instance wants on a shard, and which of them it has subscribed to on the
// present connection.
type subscriptions struct {
	wake chan struct{} // one slot, never closed

	mu        sync.Mutex // guards the fields below
	topics    map[string]topicState
	open      bool               // a connection exists to which changes are sent
	changed   []string           // topics changed since the last command was sent
	since     time.Time          // time of the oldest unsent change that adds a topic
	requested []subscribeCommand // SUBSCRIBE commands that Redis has not confirmed, oldest first
}

// topicState says whether this instance wants the topic, and whether it has sent a SUBSCRIBE for it.
type topicState struct{ wanted, requested bool }

// subscribeCommand is one SUBSCRIBE.
type subscribeCommand struct {
	last  string    // the command's last topic: when Redis confirms it, the command is confirmed
	since time.Time // when the first of the command's topics was wanted, or earlier
}

func newSubscriptions() *subscriptions {
	return &subscriptions{wake: make(chan struct{}, 1), topics: map[string]topicState{}}
}

// set sets whether the topic is wanted.
func (w *subscriptions) set(topic string, wanted bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.topics[topic]
	if t.wanted == wanted {
		return
	}
	t.wanted = wanted
	if t == (topicState{}) {
		delete(w.topics, topic)
	} else {
		w.topics[topic] = t
	}
	if !w.open {
		return
	}
	w.changed = append(w.changed, topic)
	if wanted && w.since.IsZero() {
		w.since = time.Now()
	}
	w.notify()
}

func (w *subscriptions) notify() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// begin records that a new connection is open, on which all wanted topics must be subscribed again.
func (w *subscriptions) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.resetLocked()
	w.open = true
	w.changed = make([]string, 0, len(w.topics))
	for topic := range w.topics {
		w.changed = append(w.changed, topic)
	}
	w.since = time.Now()
}

// end records that the connection is closed, so that no topic counts as subscribed.
func (w *subscriptions) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.resetLocked()
}

func (w *subscriptions) resetLocked() {
	w.open, w.changed, w.requested, w.since = false, nil, nil, time.Time{}
	for topic, t := range w.topics {
		if !t.wanted {
			delete(w.topics, topic)
		} else if t.requested {
			w.topics[topic] = topicState{wanted: true}
		}
	}
}

// next returns topics to subscribe to and topics to unsubscribe from, and records them as sent. Both lists are empty
// when there is nothing to send.
func (w *subscriptions) next() (subscribe, unsubscribe []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for ; n < len(w.changed) && len(subscribe) < topicsPerCommand && len(unsubscribe) < topicsPerCommand; n++ {
		topic := w.changed[n]
		switch t := w.topics[topic]; {
		case t.wanted && !t.requested:
			w.topics[topic] = topicState{true, true}
			subscribe = append(subscribe, topic)
		case !t.wanted && t.requested:
			delete(w.topics, topic)
			unsubscribe = append(unsubscribe, topic)
		}
	}
	w.changed = w.changed[n:]
	if len(subscribe) > 0 {
		w.requested = append(w.requested, subscribeCommand{subscribe[len(subscribe)-1], w.since})
	}
	if len(w.changed) == 0 {
		w.changed, w.since = nil, time.Time{}
	}
	return subscribe, unsubscribe
}

// confirmed handles Redis's confirmation of a topic. A command is confirmed when its last topic is. confirmed reports
// whether that has just happened, later than slowAfter.
func (w *subscriptions) confirmed(topic string) (slow bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.requested) == 0 || w.requested[0].last != topic {
		return false
	}
	since := w.requested[0].since
	w.requested = w.requested[1:]
	return time.Since(since) > slowAfter
}

// checkEvery is how often a link is checked. Each sentinelCheckEvery-th check asks the sentinels for the master.
const (
	checkEvery         = heartbeatEvery / 2
	sentinelCheckEvery = 4
)

// subscribe sends changes of subscriptions to Redis, and checks the link from time to time. On a new link it
// subscribes to the heartbeats last. So when a heartbeat arrives, all topics that were wanted before are subscribed.
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
	// While the receiver handles one payload, the link cannot read. This time must not count as silence of Redis.
	deliveries := l.deliveries.Load()
	if deliveries%2 == 1 && deliveries == w.deliveries {
		l.markHeard()
	}
	w.deliveries = deliveries
	if l.silent() > l.shard.bus.silentAfter {
		return errSilent
	}
	w.checks++
	if l.shard.bus.o.Sentinel && w.checks%sentinelCheckEvery == 0 && l.dialer.masterMoved(ctx) {
		return errDemoted
	}
	return nil
}

// linkDials is the number of connections of a link: one publishes, one listens.
const linkDials = 2

var errNoRedial = errors.New("a link does not redial: it is replaced")

// dial opens a new link to the shard's master.
func (s *shard) dial(ctx context.Context) (*link, error) {
	step := s.bus.stepTimeout
	ctx, cancel := context.WithTimeout(ctx, 2*step)
	defer cancel()
	node, err := s.node(ctx)
	if err != nil {
		return nil, fmt.Errorf("find the master: %w", err)
	}
	options := *node.Options()
	dialer := &linkDialer{dial: options.Dialer}
	options.Dialer = dialer.Dial
	options.Protocol = 2 // with RESP3, the driver's push processor would take the messages
	options.PoolSize, options.MinIdleConns, options.PipelinePoolSize = 1, 0, -1
	options.MaxRetries, options.DialerRetries = -1, 1
	options.DialTimeout, options.ReadTimeout, options.WriteTimeout = step, step, step
	options.PoolTimeout = step
	options.ConnMaxIdleTime, options.ConnMaxLifetime = -1, 0
	options.ContextTimeoutEnabled = true
	client := redis.NewClient(&options)
	sub := client.Subscribe(ctx)
	err = sub.Ping(ctx)
	if err == nil {
		err = client.Ping(ctx).Err()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("connect: %w", err), sub.Close(), client.Close())
	}
	key := s.bus.o.Key
	return &link{
		shard: s, dialer: dialer, client: client, sub: sub, tags: newTagger(key), checks: newTagger(key),
		began: time.Now(), heartbeatNow: make(chan struct{}, 1),
	}, nil
}

// node returns the client of the shard's master. The link is opened with that client's options.
func (s *shard) node(ctx context.Context) (*redis.Client, error) {
	switch c := s.bus.client.(type) {
	case *redis.ClusterClient:
		return c.MasterForKey(ctx, s.heartbeat)
	case *redis.Client:
		return c, nil
	default:
		return nil, fmt.Errorf("unexpected client %T", c)
	}
}

// linkDialer dials the two connections of one link, and refuses every further dial. Otherwise the Redis driver would
// reconnect and subscribe again by itself, and lost messages would go unnoticed.
type linkDialer struct {
	dial func(ctx context.Context, network, addr string) (net.Conn, error)

	mu    sync.Mutex // guards the fields below
	count int
	to    net.Addr // server address of the last connection
}

// Dial implements the Dialer of redis.Options.
func (d *linkDialer) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	d.mu.Lock()
	d.count++
	exhausted := d.count > linkDials
	d.mu.Unlock()
	if exhausted {
		return nil, errNoRedial
	}
	conn, err := d.dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.to = conn.RemoteAddr()
	return conn, nil
}

// masterMoved opens a connection and reports whether it leads to another address than the link's. That happens when
// the sentinels have named a new master while the old one still answers.
func (d *linkDialer) masterMoved(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	conn, err := d.dial(ctx, "tcp", "")
	if err != nil {
		return false // a master that is gone is noticed in another way: no heartbeats come back through it
	}
	defer conn.Close() //nolint:errcheck // nothing was written
	d.mu.Lock()
	defer d.mu.Unlock()
	return conn.RemoteAddr().String() != d.to.String()
}
