package redisstore

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/hub"
)

// The bus's times. What is silent is noticed within about three beats.
const (
	busTimeout = time.Second // of one dial, write or reply
	beatEvery  = time.Second
	silence    = 3 * beatEvery
)

// busOptions say what the client does not tell.
type busOptions struct {
	log      *slog.Logger
	sentinel bool // the master may be another one although the old one still answers
}

// bus implements hub.Bus: pub/sub in as many lanes as there are partitions, 16 in a cluster, else one.
type bus struct {
	// static after newBus
	id     uint64 // of this instance, drawn
	client redis.UniversalClient
	o      busOptions
	lanes  []*lane

	telling  sync.Mutex // held while the receiver is told, so that it hears one thing after the other; guards the following
	receiver hub.Receiver
	lame     int // lanes that are not up

	mu    sync.Mutex      // guards the following
	peers map[uint64]peer // other instances, and when each one's heart was last heard
}

// newBus makes an instance's end of the bus. The client is only asked where the servers are and how to speak to
// them: each lane has connections of its own.
func newBus(client redis.UniversalClient, o busOptions) *bus {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails
	b := &bus{id: binary.BigEndian.Uint64(id[:]), client: client, o: o, peers: map[uint64]peer{}}
	switch c := client.(type) {
	case *redis.ClusterClient:
		for _, tag := range busTags {
			b.lanes = append(b.lanes, newLane(b, "hb:{"+tag+"}", len(busTags)))
		}
	case *redis.Client:
		// Channels know nothing of databases.
		b.lanes = append(b.lanes, newLane(b, "hb:"+strconv.Itoa(c.Options().DB), 1))
	}
	return b
}

// Publish queues the payload.
func (b *bus) Publish(topic string, payload []byte, rank hub.Rank) {
	b.laneOf(topic).outbox.put(topic, payload, rank)
}

// Subscribe has effect as soon as Redis is told. If that takes long, Suspect follows.
func (b *bus) Subscribe(topics ...string) {
	for _, topic := range topics {
		b.laneOf(topic).wants.set(topic, true)
	}
}

// Unsubscribe has effect as soon as Redis is told.
func (b *bus) Unsubscribe(topics ...string) {
	for _, topic := range topics {
		b.laneOf(topic).wants.set(topic, false)
	}
}

// Run keeps all lanes open until ctx is done, then sends what is queued, if that is possible at once, and says
// goodbye.
func (b *bus) Run(ctx context.Context, r hub.Receiver) error {
	b.telling.Lock()
	b.receiver, b.lame = r, len(b.lanes)
	for _, l := range b.lanes {
		l.up = false
	}
	b.telling.Unlock()
	var running sync.WaitGroup
	for _, l := range b.lanes {
		running.Go(func() { l.run(ctx) })
	}
	running.Wait()
	return nil
}

// sharded tells whether there are partitions.
func (b *bus) sharded() bool { return len(b.lanes) > 1 }

func (b *bus) laneOf(topic string) *lane {
	if !b.sharded() {
		return b.lanes[0]
	}
	// FNV-1a: every instance must find the same lane.
	h := uint32(2166136261)
	for i := range len(topic) {
		h = (h ^ uint32(topic[i])) * 16777619
	}
	return b.lanes[h%uint32(len(b.lanes))]
}

// laneDown notes that a lane may lose messages from now on, until a heartbeat is heard that is yet to be sent.
func (b *bus) laneDown(l *lane) {
	b.telling.Lock()
	defer b.telling.Unlock()
	l.proof = l.numbered.Load() + 1
	if !l.up {
		return
	}
	l.up = false
	b.lame++
	if b.lame == 1 {
		b.receiver.Down(true)
	}
}

// laneBeats is called with the number of each heartbeat of our own that a lane brings: it is a proof of the whole
// way, if it was sent after the last failure. Awake: we have listened all the time since the one before.
func (b *bus) laneBeats(l *lane, n uint64, awake bool) {
	b.telling.Lock()
	defer b.telling.Unlock()
	switch {
	case l.up && !awake:
		b.excusePeers()
	case l.up:
		switch suspect, compare := b.missPeers(); {
		case suspect:
			b.receiver.Suspect()
		case compare:
			b.receiver.Compare()
		}
	case n >= l.proof:
		l.up = true
		b.lame--
		b.excusePeers()
		if b.lame == 0 {
			b.receiver.Down(false)
		} else {
			b.receiver.Suspect()
		}
	}
}

// suspect says that a lane which is up may have lost something.
func (b *bus) suspect(l *lane) {
	b.telling.Lock()
	defer b.telling.Unlock()
	if l.up {
		b.receiver.Suspect()
	}
}
