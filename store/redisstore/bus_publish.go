package redisstore

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// Payloads of a heartbeat.
const (
	heartbeatAlive   = "."
	heartbeatLost    = "!" // this instance has dropped messages of rank hub.Kept; the receivers call Receiver.Suspect
	heartbeatGoodbye = "x" // this instance stops and has sent everything
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
		var messages []busMessage
		if wake != nil {
			messages = queue.take()
		}
		if err := l.send(messages, heartbeat); err != nil {
			return err
		}
	}
}

// sendRest sends the rest of the queue, for at most busTimeout. If nothing remains, it sends heartbeatGoodbye.
func (l *link) sendRest() error {
	queue := l.shard.queue
	for end := time.Now().Add(busTimeout); !queue.empty() && time.Now().Before(end); {
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
// back to the front of the queue, so that the order stays.
func (l *link) send(messages []busMessage, heartbeat string) error {
	if len(messages) == 0 && heartbeat == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), busTimeout)
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
		l.put(ctx, pipe, s.heartbeat, newBusMessage("", []byte(heartbeat), 0))
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
func (l *link) put(ctx context.Context, pipe redis.Pipeliner, channel string, m busMessage) {
	if m.number() == 0 {
		m.setHeader(l.shard.bus.id, l.shard.numbered.Add(1))
	}
	if l.shard.bus.sharded() {
		pipe.SPublish(ctx, channel, m.bytes)
	} else {
		pipe.Publish(ctx, channel, m.bytes)
	}
}

// requeue puts failed messages back into the queue. A message that Redis refused was not published, but later
// messages of the round trip may have been. With its old number, receivers would drop it as a repeat, so it gets a
// new one.
func (l *link) requeue(messages []busMessage, err error) {
	var refusal redis.Error
	if errors.As(err, &refusal) {
		for _, m := range messages {
			m.setHeader(l.shard.bus.id, 0)
		}
	}
	l.shard.queue.putBack(messages)
}

// replica reports whether the server says that it is a replica. A server that does not allow ROLE counts as a master.
func replica(role *redis.Cmd) bool {
	answer, err := role.Slice()
	return err == nil && len(answer) > 0 && answer[0] == "slave"
}
