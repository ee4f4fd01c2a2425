package redisstore

import (
	"context"
	"maps"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// remember is how long after its last parcel a publisher may send one again.
const remember = 10 * time.Minute

// listen reads until the connection is closed.
func (n *line) listen(ctx context.Context) error {
	for {
		what, err := n.sub.Receive(ctx)
		if err != nil {
			return err
		}
		switch what := what.(type) {
		case *redis.Message:
			n.receive(what)
		case *redis.Subscription:
			if err := n.confirmed(what); err != nil {
				return err
			}
		}
	}
}

// confirmed takes the answer to a subscription, and the server's word that one has ended.
func (n *line) confirmed(s *redis.Subscription) error {
	n.hear()
	l := n.lane
	ended := strings.HasSuffix(s.Kind, "unsubscribe")
	switch {
	case ended && s.Channel == l.beat:
		return errMoved // we never ask for that
	case ended:
	case s.Channel == l.beat:
		n.askForBeat()
	case l.wants.answered(l.topic(s.Channel)):
		l.bus.suspect(l)
	}
	return nil
}

func (n *line) askForBeat() {
	select {
	case n.beatNow <- struct{}{}:
	default:
	}
}

// receive gives a payload to the receiver, unless it is our own or came already.
func (n *line) receive(m *redis.Message) {
	l := n.lane
	from, number, ok := openParcel(m.Payload)
	if !ok {
		l.bus.o.log.Warn("bus payload dropped: it is not ours", "channel", m.Channel)
		return
	}
	own := from == l.bus.id
	switch {
	case m.Channel == l.beat && own:
		n.hear()
		// Who was held up has not heard the peers either.
		awake := time.Since(n.beaten) < 2*beatEvery
		n.beaten = time.Now()
		l.bus.laneBeats(l, number, awake)
		maps.DeleteFunc(l.seen, func(_ uint64, t trace) bool { return time.Since(t.at) > remember })
	case m.Channel == l.beat:
		n.peerBeats(from, m.Payload[parcelHeader:])
	case !own && n.isNew(from, number):
		n.turns.Add(1)
		l.bus.receiver.Receive(l.topic(m.Channel), []byte(m.Payload[parcelHeader:]))
		n.turns.Add(1)
	}
}

// isNew tells whether a peer's parcel has not come yet. Heartbeats overtake parcels, so they do not count.
func (n *line) isNew(from, number uint64) bool {
	l := n.lane
	last, known := l.seen[from]
	if known && number <= last.number {
		return false
	}
	if !known {
		l.bus.heardPeer(from)
	}
	l.seen[from] = trace{number, time.Now()}
	return true
}

func (n *line) peerBeats(id uint64, says string) {
	b := n.lane.bus
	if says == goodbye {
		b.forgetPeer(id)
		return
	}
	b.heardPeer(id)
	if says == sorry {
		b.suspect(n.lane)
	}
}
