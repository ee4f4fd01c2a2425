package redisstore

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// What a heartbeat says.
const (
	alive   = "."
	sorry   = "!" // something that should have come was lost
	goodbye = "x" // the heart will not be heard again, and nothing is lost
)

// publish sends what is in the outbox, and heartbeats, until ctx is done. When the whole bus ends (then done is over,
// too) it sends the rest.
func (n *line) publish(ctx, whole context.Context) error {
	ticker := time.NewTicker(beatEvery)
	defer ticker.Stop()
	box := n.lane.outbox
	grace := time.NewTimer(n.grace)
	defer grace.Stop()
	var wake <-chan struct{} // nil: not yet
	for {
		beat := ""
		select {
		case <-ctx.Done():
			if whole.Err() != nil {
				return n.farewell()
			}
			return nil
		case <-grace.C:
			wake = box.wake
			box.ring()
			continue
		case <-wake:
		case <-n.beatNow:
			beat = alive
		case <-ticker.C:
			beat = alive
		}
		var parcels []parcel
		if wake != nil {
			parcels = box.take()
		}
		if err := n.send(parcels, beat); err != nil {
			return err
		}
	}
}

// farewell sends what is left, if that goes fast.
func (n *line) farewell() error {
	box := n.lane.outbox
	for end := time.Now().Add(busTimeout); !box.empty() && time.Now().Before(end); {
		if err := n.send(box.take(), alive); err != nil {
			return err
		}
	}
	if box.empty() {
		return n.send(nil, goodbye)
	}
	return nil
}

// send publishes parcels and a heartbeat, if any, in one round trip. What did not arrive for certain goes back: from
// the first failure on, so that the order stays.
func (n *line) send(parcels []parcel, beat string) error {
	if len(parcels) == 0 && beat == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), busTimeout)
	defer cancel()
	l := n.lane
	pipe := n.client.Pipeline()
	for _, p := range parcels {
		n.put(ctx, pipe, l.channel(p.topic), p)
	}
	var role *redis.Cmd
	if beat != "" {
		if beat == alive && l.outbox.confess() {
			beat = sorry
		}
		n.put(ctx, pipe, l.beat, newParcel("", []byte(beat), 0))
		if !l.bus.sharded() {
			role = pipe.Do(ctx, "role")
		}
	}
	cmds, _ := pipe.Exec(ctx) // each command has its own error
	if role != nil {
		cmds = cmds[:len(cmds)-1]
	}
	failed, err := firstError(cmds)
	if err == nil && role != nil && replica(role) {
		failed, err = 0, errDemoted // somebody may have got them all the same
	}
	if err == nil {
		return nil
	}
	if beat == sorry {
		l.outbox.unheard()
	}
	n.unsent(parcels[min(failed, len(parcels)):], err)
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

// put adds one PUBLISH. A parcel keeps the number it has.
func (n *line) put(ctx context.Context, pipe redis.Pipeliner, channel string, p parcel) {
	if p.number() == 0 {
		p.address(n.lane.bus.id, n.lane.numbered.Add(1))
	}
	if n.lane.bus.sharded() {
		pipe.SPublish(ctx, channel, p.bytes)
	} else {
		pipe.Publish(ctx, channel, p.bytes)
	}
}

// unsent keeps what failed. If Redis has refused it, it has not been published, and may be overtaken by what it
// accepted behind it: it gets another number.
func (n *line) unsent(parcels []parcel, err error) {
	var refusal redis.Error
	if errors.As(err, &refusal) {
		for _, p := range parcels {
			p.address(n.lane.bus.id, 0)
		}
	}
	n.lane.outbox.back(parcels)
}

// replica tells whether the server says that it is no master. One that may not be asked is believed.
func replica(role *redis.Cmd) bool {
	answer, err := role.Slice()
	return err == nil && len(answer) > 0 && answer[0] == "slave"
}
