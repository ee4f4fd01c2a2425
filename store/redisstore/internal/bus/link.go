package bus

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// Pauses between two attempts to connect.
const (
	minRedial = 50 * time.Millisecond
	maxRedial = time.Second
)

// peerLag is how much later than this instance a peer may notice a failure of Redis and be connected again.
const peerLag = 500 * time.Millisecond

// shard carries its part of the topics over one link at a time.
type shard struct {
	// immutable
	bus           *Bus
	heartbeat     string // the channel of the heartbeats; a topic's channel begins with this name and a colon
	queue         *sendQueue
	subscriptions *subscriptions
	began         time.Time

	numbered atomic.Uint64 // number of the last message or heartbeat that this instance sent; only the goroutine publish changes it

	// owned by run
	seen      map[uint64]publisherState // by publisher
	tooOld    bool                      // a message was dropped as too old after the time suspected
	suspected time.Time                 // when such messages were last reported

	// guarded by bus.notifying
	up    bool
	proof uint64 // a heartbeat of this instance with at least this number proves that the shard is up again
}

// publisherState is what a shard remembers of an instance that publishes through it.
type publisherState struct {
	message, heartbeat uint64    // highest numbers that arrived; 0: none did
	at                 time.Time // when the last one arrived
}

func newShard(b *Bus, heartbeat string, shards int) *shard {
	return &shard{bus: b, heartbeat: heartbeat, queue: newSendQueue(shards), subscriptions: newSubscriptions(), began: time.Now(), seen: map[uint64]publisherState{}}
}

func (s *shard) channel(topic string) string { return s.heartbeat + ":" + topic }

// topic is the inverse of channel.
func (s *shard) topic(channel string) string {
	return strings.TrimPrefix(channel[len(s.heartbeat):], ":")
}

// run keeps a link open until ctx is done.
func (s *shard) run(ctx context.Context) {
	wait, level := minRedial, slog.LevelWarn
	var lost time.Time
	for {
		began := time.Now()
		err := s.runLink(ctx, lost)
		if ctx.Err() != nil {
			return
		}
		s.bus.shardDown(s)
		if lost.IsZero() || time.Since(began) > s.bus.silentAfter { // the link worked for a while, so this failure begins a new series
			wait, level, lost = minRedial, slog.LevelWarn, time.Now()
		}
		s.bus.o.Log.Log(ctx, level, "bus connection lost or refused", "shard", s.heartbeat, "err", err)
		level = slog.LevelDebug // warn once in a series
		if cluster, ok := s.bus.client.(*redis.ClusterClient); ok {
			cluster.ReloadState(ctx)
		}
		if !sleep(ctx, wait/2+rand.N(wait/2)) {
			return
		}
		wait = min(2*wait, maxRedial)
	}
}

// runLink opens a link and keeps it until it fails or ctx is done. lost is when the present series of failures began, or zero
// if there was no failure yet. The other instances may have lost their links, too. So after a failure, messages wait until
// those instances had time to reconnect.
func (s *shard) runLink(ctx context.Context, lost time.Time) error {
	l, err := s.dial(ctx)
	if err != nil {
		return err
	}
	if !lost.IsZero() {
		l.grace = min(time.Since(lost), maxRedial) + peerLag
	}
	return l.run(ctx)
}

// sleep waits for d. It reports false if ctx is done before.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// These are reasons to close a link, besides errors of its connections.
var (
	errSilent  = errors.New("no heartbeat of this instance received")
	errMoved   = errors.New("partition moved to another node")
	errDemoted = errors.New("this node is a replica now")
)

// link holds the two connections of a shard to its master: one publishes, one listens. Any failure of either closes
// both, and the next link looks up the master again. Unsent messages stay in the send queue.
//
//	goroutine   may block on
//	listen      reading; Receiver.Receive
//	subscribe   writing subscriptions; it also checks whether the link is silent
//	publish     a round trip
type link struct {
	// immutable
	shard        *shard
	dialer       *linkDialer
	client       *redis.Client // publishes
	sub          *redis.PubSub
	tags, checks *tagger // of sent messages, owned by publish; of received ones, owned by listen
	began        time.Time
	grace        time.Duration // time after the start in which only heartbeats are sent, no messages
	heartbeatNow chan struct{} // one slot, never closed; asks for a heartbeat at once

	lastOwnHeartbeat time.Time // owned by listen: arrival of this instance's last heartbeat

	heard      atomic.Int64  // time of the last markHeard: nanoseconds since began
	deliveries atomic.Uint64 // odd while the receiver handles a payload
}

// markHeard records that Redis does not count as silent now: it has just delivered a heartbeat of this instance or confirmed a
// subscription, or the receiver is too busy to tell.
func (l *link) markHeard() { l.heard.Store(int64(time.Since(l.began))) }

// silent returns the time since the last markHeard.
func (l *link) silent() time.Duration { return time.Since(l.began) - time.Duration(l.heard.Load()) }

// run sends and receives until one of the connections fails or ctx is done. Then it closes both connections.
func (l *link) run(ctx context.Context) error {
	held, end := context.WithCancelCause(ctx)
	defer end(nil)
	stop := context.AfterFunc(held, func() { _ = l.sub.Close() }) // ends listen
	defer stop()
	l.shard.subscriptions.begin()
	defer l.shard.subscriptions.end()
	var running sync.WaitGroup
	running.Go(func() { end(l.subscribe(held)) })
	running.Go(func() { end(l.publish(held, ctx)) })
	end(l.listen(held))
	running.Wait()
	_ = l.client.Close() // the client is not used any more
	return context.Cause(held)
}

// shardTags are the hash tags of the shards in a cluster. Their slots are 512, 1536, … 15872, so nodes with equal ranges of
// slots have equal numbers of shards. The number of shards never changes, because all instances must agree on it.
var shardTags = [...]string{
	"ms3", "mws", "pt6", "arf", "mb1", "eoi", "pe4", "acd", "gxm", "ou5", "c0h", "ky8", "gio", "od7", "ceb", "rc2",
}

// Payloads of a heartbeat.
const (
	heartbeatAlive   = "."
	heartbeatLost    = "!" // this instance may have dropped messages of any rank; the peers call Receiver.Suspect
	heartbeatGoodbye = "x" // this instance stops and has sent everything on this shard
)

// publish sends queued messages and heartbeats until ctx, the link's context, is done. If busCtx is done as well, the
// bus stops, and publish sends the rest of the queue first.
func (l *link) publish(ctx, busCtx context.Context) error {
	ticker := time.NewTicker(heartbeatEvery)
	defer ticker.Stop()
	queue := l.shard.queue
	grace := time.NewTimer(l.grace)
	defer grace.Stop()
	var wake <-chan struct{} // nil during the grace period
	for {
		heartbeat := ""
		select {
		case <-ctx.Done():
			if busCtx.Err() != nil {
				return l.sendRest()
			}
			return nil
		case <-grace.C:
			wake = queue.wake
			queue.notify()
			continue
		case <-wake:
		case <-l.heartbeatNow:
			heartbeat = heartbeatAlive
		case <-ticker.C:
			heartbeat = heartbeatAlive
		}
		var messages []message
		if wake != nil {
			messages = queue.take()
		}
		if err := l.send(messages, heartbeat); err != nil {
			return err
		}
	}
}

// sendRest sends the rest of the queue, for at most stepTimeout. If nothing remains, it sends heartbeatGoodbye.
func (l *link) sendRest() error {
	queue := l.shard.queue
	for end := time.Now().Add(l.shard.bus.stepTimeout); !queue.empty() && time.Now().Before(end); {
		if err := l.send(queue.take(), heartbeatAlive); err != nil {
			return err
		}
	}
	if queue.empty() {
		return l.send(nil, heartbeatGoodbye)
	}
	return nil
}

// send publishes messages and a heartbeat, if any, in one round trip. If a message fails, it and all later ones go
// back to the front of the queue, so that the order stays. Those of rank hub.Loose are dropped instead.
func (l *link) send(messages []message, heartbeat string) error {
	if len(messages) == 0 && heartbeat == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), l.shard.bus.stepTimeout)
	defer cancel()
	s := l.shard
	pipe := l.client.Pipeline()
	for _, m := range messages {
		l.put(ctx, pipe, s.channel(m.topic), m)
	}
	var role *redis.Cmd
	if heartbeat != "" {
		if heartbeat == heartbeatAlive && s.queue.takeLost() {
			heartbeat = heartbeatLost
		}
		l.put(ctx, pipe, s.heartbeat, newMessage("", []byte(heartbeat), 0))
		if !s.bus.sharded() {
			role = pipe.Do(ctx, "role")
		}
	}
	cmds, _ := pipe.Exec(ctx) // each command has its own error
	if role != nil {
		cmds = cmds[:len(cmds)-1]
	}
	failed, err := firstError(cmds)
	if err == nil && role != nil && replica(role) {
		failed, err = 0, errDemoted // all messages go back to the queue, although they may have been delivered
	}
	if err == nil {
		return nil
	}
	if heartbeat == heartbeatLost {
		s.queue.setLost()
	}
	l.requeue(messages[min(failed, len(messages)):], err)
	return err
}

func firstError(cmds []redis.Cmder) (index int, err error) {
	for i, cmd := range cmds {
		if err := cmd.Err(); err != nil {
			return i, err
		}
	}
	return 0, nil
}

// put adds one PUBLISH to the pipeline. A message that has a number from an earlier try keeps it.
func (l *link) put(ctx context.Context, pipe redis.Pipeliner, channel string, m message) {
	if m.number() == 0 {
		m.setNumber(l.shard.bus.id, l.shard.nextNumber())
		l.tags.write(channel, m)
	}
	if l.shard.bus.sharded() {
		pipe.SPublish(ctx, channel, m.bytes)
	} else {
		pipe.Publish(ctx, channel, m.bytes)
	}
}

// requeue puts back into the queue a failed message and the later ones of its round trip. If Redis refused the first, it
// was not published, but the later ones may have been. Receivers that have seen the later messages' higher numbers would
// drop the first as a repeat. So all get new numbers, and the later ones may arrive twice.
func (l *link) requeue(messages []message, err error) {
	var refusal redis.Error
	if errors.As(err, &refusal) {
		for _, m := range messages {
			m.setNumber(l.shard.bus.id, 0)
		}
	}
	l.shard.queue.putBack(messages)
}

// replica reports whether the server says that it is a replica. A server that does not allow ROLE counts as a master.
func replica(role *redis.Cmd) bool {
	answer, err := role.Slice()
	return err == nil && len(answer) > 0 && answer[0] == "slave"
}

// nextNumber returns a number that is higher than all before, and at least the time in microseconds.
func (s *shard) nextNumber() uint64 {
	_, now := s.micros()
	n := max(s.numbered.Load()+1, now)
	s.numbered.Store(n)
	return n
}

// micros returns the time in microseconds since 1970 by two clocks, the earlier one first. One is the machine's clock. The
// other is the start of the shard plus the time that has passed since. If the machine's clock is set, or the machine
// sleeps, one of them stays right.
func (s *shard) micros() (earlier, later uint64) {
	set, passed := time.Now().UnixMicro(), s.began.UnixMicro()+time.Since(s.began).Microseconds()
	return uint64(min(set, passed)), uint64(max(set, passed))
}

const (
	// rememberFor is how long a publisher is remembered after its last message or heartbeat, so that repeats are recognised. A
	// message older than this is dropped if its publisher is not remembered, so a client of Redis cannot repeat it later.
	rememberFor = 10 * time.Minute
	// A message that was sent more than beforeStart before the start of this instance is dropped if its publisher is not
	// remembered. beforeStart is not zero, because clocks differ. What was committed before the start is read from SQL.
	beforeStart = time.Minute
)

// oldest returns the lowest number that is accepted from a publisher that is not remembered.
func (s *shard) oldest() uint64 {
	now, _ := s.micros()
	return max(now-uint64(rememberFor.Microseconds()), uint64(s.began.Add(-beforeStart).UnixMicro()))
}

// listen handles what Redis sends until the connection is closed.
func (l *link) listen(ctx context.Context) error {
	for {
		what, err := l.sub.Receive(ctx)
		if err != nil {
			return err
		}
		switch what := what.(type) {
		case *redis.Message:
			l.receive(what)
		case *redis.Subscription:
			if err := l.confirmed(what); err != nil {
				return err
			}
		}
	}
}

// confirmed handles the reply to a subscription, and the server's message that a subscription has ended.
func (l *link) confirmed(sub *redis.Subscription) error {
	l.markHeard()
	s := l.shard
	ended := strings.HasSuffix(sub.Kind, "unsubscribe")
	switch {
	case ended && sub.Channel == s.heartbeat:
		return errMoved // the bus never unsubscribes from its heartbeats, so Redis ended the subscription
	case ended:
	case sub.Channel == s.heartbeat:
		l.requestHeartbeat()
	case s.subscriptions.confirmed(s.topic(sub.Channel)):
		s.bus.suspect(s)
	}
	return nil
}

func (l *link) requestHeartbeat() {
	select {
	case l.heartbeatNow <- struct{}{}:
	default:
	}
}

// receive handles a heartbeat, or passes a message's payload to the receiver. It skips this instance's own messages,
// repeats, and messages that are too old. A message without a valid tag is reported to Receiver.Forged.
func (l *link) receive(msg *redis.Message) {
	s := l.shard
	from, number, payload, ok := l.checks.open(msg.Channel, []byte(msg.Payload))
	if !ok {
		s.bus.receiver.Forged(s.topic(msg.Channel))
		return
	}
	own := from == s.bus.id
	switch {
	case msg.Channel == s.heartbeat && !s.isNewHeartbeat(from, number):
	case msg.Channel == s.heartbeat && own:
		l.markHeard()
		// A listener that was held up has not received the peers' heartbeats either.
		awake := time.Since(l.lastOwnHeartbeat) < 2*heartbeatEvery
		l.lastOwnHeartbeat = time.Now()
		s.bus.shardHeartbeat(s, number, awake)
		if s.tooOld && time.Since(s.suspected) >= suspectEvery { // an instance that was cut off for long may have sent the old messages
			s.tooOld, s.suspected = false, time.Now()
			s.bus.suspect(s)
		}
		maps.DeleteFunc(s.seen, func(_ uint64, t publisherState) bool { return time.Since(t.at) > rememberFor })
	case msg.Channel == s.heartbeat:
		l.peerHeartbeat(from, string(payload))
	case !own && s.isNew(from, number):
		l.deliveries.Add(1)
		s.bus.receiver.Receive(s.topic(msg.Channel), payload)
		l.deliveries.Add(1)
	}
}

// isNew reports whether a peer's message is neither a repeat nor too old, and records it.
func (s *shard) isNew(from, number uint64) bool {
	last, known := s.seen[from]
	switch {
	case number <= last.message:
		return false
	case last.message == 0 && number < s.oldest():
		s.tooOld = true
		return false
	case !known:
		s.bus.heardPeer(from)
	}
	last.message, last.at = number, time.Now()
	s.seen[from] = last
	return true
}

// isNewHeartbeat does for heartbeats what isNew does for messages. Their numbers are remembered separately, because a
// heartbeat may arrive before messages with lower numbers.
func (s *shard) isNewHeartbeat(from, number uint64) bool {
	last := s.seen[from]
	if number <= last.heartbeat || last.heartbeat == 0 && number < s.oldest() {
		return false
	}
	last.heartbeat, last.at = number, time.Now()
	s.seen[from] = last
	return true
}

func (l *link) peerHeartbeat(id uint64, says string) {
	b := l.shard.bus
	if says == heartbeatGoodbye {
		b.forgetPeer(id)
		return
	}
	b.heardPeer(id)
	if says == heartbeatLost {
		b.suspect(l.shard)
	}
}
