package schemes

import (
	"context"
	_ "embed"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// LuaSplit is article 1. One script draws the amount from the rest, between 1 and all but 1; the last grab takes the rest. The
// decision waits in a queue of this process until one consumer has written it to three tables. The packet is a key with a TTL,
// and a listener of expiry events returns the rest.
//
// A draw may leave too little for later grabs, so packets jam: one unit left, several pieces, and every grab is an error. On
// average the first grabs get most. A grab is answered before it is stored, and the queue dies with the process.
type LuaSplit struct {
	redis redis.UniversalClient
	db    *Database
	ready chan struct{}

	mu    sync.Mutex
	queue []splitEvent  // guarded by mu
	wake  chan struct{} // signals that the queue may have events
}

var _ Scheme = (*LuaSplit)(nil)

// splitEvent is a task of the consumer.
type splitEvent struct {
	operation    string // GRAB or RETURN
	user, packet string
	money        int64
}

// NewLuaSplit makes the scheme.
func NewLuaSplit(r redis.UniversalClient, db *Database) *LuaSplit {
	return &LuaSplit{redis: r, db: db, ready: make(chan struct{}), wake: make(chan struct{}, 1)}
}

//go:embed lua_split.lua
var luaSplit string

var luaSplitScript = redis.NewScript(luaSplit)

// The article's keys.
const (
	splitPrefix = "redPacket-"
	splitNumber = "redPacket_num"
	splitRecord = "redPacket_record"
)

// LuaSplitKey returns the key whose expiry is the packet's deadline.
func LuaSplitKey(packet string) string { return splitPrefix + packet }

// Open implements Scheme. The sender pays in SQL, and then the packet is put into Redis.
func (s *LuaSplit) Open(ctx context.Context, p Packet) error {
	if err := s.send(ctx, p); err != nil {
		return err
	}
	ttl := p.TTL
	if ttl <= 0 {
		ttl = 24 * time.Hour // the script deletes a key without a TTL at once
	}
	pipe := s.redis.Pipeline()
	pipe.HSet(ctx, splitNumber, p.ID, len(p.Shares))
	pipe.Set(ctx, LuaSplitKey(p.ID), p.Total(), ttl)
	if _, err := pipe.Exec(ctx); err != nil {
		return fmt.Errorf("open %s: %w", p.ID, err)
	}
	return nil
}

// Grab implements Scheme.
func (s *LuaSplit) Grab(ctx context.Context, packet, user string) (Answer, error) {
	money, err := luaSplitScript.Run(ctx, s.redis, []string{LuaSplitKey(packet), splitNumber, splitRecord}, user, packet).Int64()
	switch {
	case err != nil:
		return Answer{}, fmt.Errorf("grab %s: %w", packet, err)
	case money == -2:
		return Answer{Verdict: Unknown}, nil
	case money == -1:
		return Answer{Verdict: Already}, nil
	case money == 0:
		return Answer{Verdict: Gone}, nil
	}
	s.enqueue(splitEvent{operation: "GRAB", user: user, packet: packet, money: money})
	return Answer{Verdict: Got, Amount: money}, nil
}

func (s *LuaSplit) enqueue(e splitEvent) {
	s.mu.Lock()
	s.queue = append(s.queue, e)
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default: // a signal waits for the consumer already
	}
}

// dequeue returns the oldest event; ok is false if there is none.
func (s *LuaSplit) dequeue() (e splitEvent, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return e, false
	}
	e, s.queue = s.queue[0], s.queue[1:]
	return e, true
}
