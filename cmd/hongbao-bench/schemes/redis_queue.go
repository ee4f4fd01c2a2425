package schemes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
)

// RedisQueue is article 3's queue. Shares wait in a Redis list; a grab pops one and writes SQL before it is answered. The
// decision is made in memory, and a share is stored before its grab is answered.
//
// But a crash between the two steps loses the share: it is in no list, and its row stays available for ever. The author calls
// for "manual compensation". The text does not keep a user from grabbing twice; here a hash in Redis does.
type RedisQueue struct {
	queue
}

// queue is the common code of the two schemes with a queue.
type queue struct {
	pieces

	redis redis.UniversalClient
}

var _ Scheme = (*RedisQueue)(nil)

// NewRedisQueue makes the scheme.
func NewRedisQueue(r redis.UniversalClient, db *Database) *RedisQueue {
	return &RedisQueue{queue{pieces: pieces{activities{db}}, redis: r}}
}

// RedisQueueShares returns the key of a packet's list of shares that are not popped.
func RedisQueueShares(packet string) string { return "Redpack:redpackQueues:" + packet }

func redisQueueUsers(packet string) string { return "Redpack:users:" + packet }

// Open implements Scheme.
func (s *queue) Open(ctx context.Context, p Packet) error {
	if err := s.pieces.Open(ctx, p); err != nil {
		return err
	}
	pipe := s.redis.Pipeline()
	for i, amount := range equalShares(p) {
		share, err := json.Marshal(piece{Packet: p.ID, ID: i, Amount: amount})
		if err != nil {
			return err
		}
		pipe.RPush(ctx, RedisQueueShares(p.ID), share)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return fmt.Errorf("push shares of %s: %w", p.ID, err)
	}
	return nil
}

// pop gives the user a share, or the verdict of a refusal. Redis has no empty lists, so the verdict for an unknown packet is Gone.
func (s *queue) pop(ctx context.Context, packet, user string) (p piece, verdict Verdict, err error) {
	first, err := s.redis.HSetNX(ctx, redisQueueUsers(packet), user, 1).Result()
	switch {
	case err != nil:
		return p, "", err
	case !first:
		return p, Already, nil
	}
	text, err := s.redis.LPop(ctx, RedisQueueShares(packet)).Result()
	switch {
	case errors.Is(err, redis.Nil):
		return p, Gone, s.redis.HDel(ctx, redisQueueUsers(packet), user).Err()
	case err != nil:
		return p, "", err
	}
	err = json.Unmarshal([]byte(text), &p)
	p.User = user
	return p, Got, err
}

// Grab implements Scheme.
func (s *RedisQueue) Grab(ctx context.Context, packet, user string) (Answer, error) {
	p, verdict, err := s.pop(ctx, packet, user)
	if err == nil && verdict == Got {
		err = s.db.Transact(ctx, func(tx pgx.Tx) error { return s.store(ctx, tx, p) })
	}
	if err != nil {
		return Answer{}, fmt.Errorf("grab %s: %w", packet, err)
	}
	return Answer{Verdict: verdict, Amount: p.Amount}, nil
}
