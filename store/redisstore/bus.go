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

// Timing of the bus. Redis, or another instance, counts as silent when none of its heartbeats arrives for
// silentAfter.
const (
	busTimeout     = time.Second // limit for one dial, for one write, and for the wait for one reply
	heartbeatEvery = time.Second
	silentAfter    = 3 * heartbeatEvery
)

// busOptions holds what the bus cannot learn from its Redis client.
type busOptions struct {
	log      *slog.Logger
	sentinel bool // Redis is behind sentinels: another node may become master while the old one still answers
}

// bus implements hub.Bus by pub/sub. In a cluster it has 16 shards, one for each partition of the topics; otherwise
// one.
type bus struct {
	// immutable after newBus
	id     uint64 // random id of this instance
	client redis.UniversalClient
	o      busOptions
	shards []*shard

	notifying  sync.Mutex // guards the fields below; held during Receiver.Suspect, Compare and Down, so that these calls do not overlap
	receiver   hub.Receiver
	shardsDown int // shards that are not up

	mu    sync.Mutex      // guards the fields below
	peers map[uint64]peer // other instances, by id
}

// newBus returns one instance's end of the bus. The client is used only to find the servers and their options: each
// shard opens its own connections.
func newBus(client redis.UniversalClient, o busOptions) *bus {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails
	b := &bus{id: binary.BigEndian.Uint64(id[:]), client: client, o: o, peers: map[uint64]peer{}}
	switch c := client.(type) {
	case *redis.ClusterClient:
		for _, tag := range busTags {
			b.shards = append(b.shards, newShard(b, "hb:{"+tag+"}", len(busTags)))
		}
	case *redis.Client:
		// Pub/sub channels are shared by all databases of a server, so the channel's name contains the database.
		b.shards = append(b.shards, newShard(b, "hb:"+strconv.Itoa(c.Options().DB), 1))
	}
	return b
}

// Publish queues the payload. It does not block.
func (b *bus) Publish(topic string, payload []byte, rank hub.Rank) {
	b.shardOf(topic).queue.put(topic, payload, rank)
}

// Subscribe requests the topics' messages and does not wait for Redis. Messages that are published before Redis has
// received the command do not arrive. If Redis confirms it later than slowAfter, Receiver.Suspect is called.
func (b *bus) Subscribe(topics ...string) {
	for _, topic := range topics {
		b.shardOf(topic).subscriptions.set(topic, true)
	}
}

// Unsubscribe ends subscriptions and does not wait for Redis. Messages may still arrive for a moment.
func (b *bus) Unsubscribe(topics ...string) {
	for _, topic := range topics {
		b.shardOf(topic).subscriptions.set(topic, false)
	}
}

// Run keeps all shards connected until ctx is done. Then each connected shard sends its queued messages, for at most
// busTimeout. If none remain, it sends a goodbye, so that the other instances do not take this one for crashed.
func (b *bus) Run(ctx context.Context, r hub.Receiver) error {
	b.notifying.Lock()
	b.receiver, b.shardsDown = r, len(b.shards)
	for _, s := range b.shards {
		s.up = false
	}
	b.notifying.Unlock()
	var running sync.WaitGroup
	for _, s := range b.shards {
		running.Go(func() { s.run(ctx) })
	}
	running.Wait()
	return nil
}

// sharded reports whether the bus has more than one shard.
func (b *bus) sharded() bool { return len(b.shards) > 1 }

func (b *bus) shardOf(topic string) *shard {
	if !b.sharded() {
		return b.shards[0]
	}
	// FNV-1a: all instances must choose the same shard for a topic.
	h := uint32(2166136261)
	for i := range len(topic) {
		h = (h ^ uint32(topic[i])) * 16777619
	}
	return b.shards[h%uint32(len(b.shards))]
}

// shardDown records that the shard may lose messages. It is up again when a heartbeat arrives that this instance has
// sent after this call. If no other shard is down, Receiver.Down(true) is called.
func (b *bus) shardDown(s *shard) {
	b.notifying.Lock()
	defer b.notifying.Unlock()
	s.proof = s.numbered.Load() + 1
	if !s.up {
		return
	}
	s.up = false
	b.shardsDown++
	if b.shardsDown == 1 {
		b.receiver.Down(true)
	}
}

// shardHeartbeat handles a heartbeat of this instance that came back through the shard. If the shard was down, and
// the heartbeat was sent after the failure, the shard is up again. awake is false if this instance's listener was
// held up since the previous heartbeat. Then heartbeats that are missing prove nothing about the peers.
func (b *bus) shardHeartbeat(s *shard, n uint64, awake bool) {
	b.notifying.Lock()
	defer b.notifying.Unlock()
	switch {
	case s.up && !awake:
		b.resetPeers()
	case s.up:
		switch suspect, compare := b.checkPeers(); {
		case suspect:
			b.receiver.Suspect()
		case compare:
			b.receiver.Compare()
		}
	case n >= s.proof:
		s.up = true
		b.shardsDown--
		b.resetPeers()
		if b.shardsDown == 0 {
			b.receiver.Down(false)
		} else {
			b.receiver.Suspect()
		}
	}
}

// suspect calls Receiver.Suspect, because the shard may have lost messages. While the shard is down it does nothing:
// Suspect follows when the shard is up again.
func (b *bus) suspect(s *shard) {
	b.notifying.Lock()
	defer b.notifying.Unlock()
	if s.up {
		b.receiver.Suspect()
	}
}
