package schemes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
)

// RedisQueueAsync is article 3's queue with deferred storing. A grab pops a share, pushes it to the list of results, and is
// answered. One consumer moves entries to a backup list, writes SQL, and removes them. A recovery thread writes the entries
// that a dead consumer has left in the backup list, unless SQL has them.
//
// A grab is answered before it is stored, so it is lost if Redis dies before SQL has it. A crash between the pop and the push
// loses the share although Redis lives: it is in no list.
type RedisQueueAsync struct {
	queue
}

var _ Scheme = (*RedisQueueAsync)(nil)

// NewRedisQueueAsync makes the scheme.
func NewRedisQueueAsync(r redis.UniversalClient, db *Database) *RedisQueueAsync {
	return &RedisQueueAsync{queue{pieces: pieces{activities{db}}, redis: r}}
}

// The lists of results to be stored, of all packets.
const (
	persistList = "Redpack:persistQueues:"
	backupList  = "Redpack:persistBackup:"
)

const (
	persistWait  = time.Second // of the consumer, for the next entry
	recoverEvery = time.Second
)

// Grab implements Scheme.
func (s *RedisQueueAsync) Grab(ctx context.Context, packet, user string) (Answer, error) {
	p, verdict, err := s.pop(ctx, packet, user)
	if err == nil && verdict == Got {
		err = s.push(ctx, p)
	}
	if err != nil {
		return Answer{}, fmt.Errorf("grab %s: %w", packet, err)
	}
	return Answer{Verdict: verdict, Amount: p.Amount}, nil
}

func (s *RedisQueueAsync) push(ctx context.Context, p piece) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return s.redis.LPush(ctx, persistList, text).Err()
}

// Run implements Scheme: the consumer, and the recovery thread.
func (s *RedisQueueAsync) Run(ctx context.Context) error {
	var recovery sync.WaitGroup
	defer recovery.Wait()
	recovery.Go(func() { s.recoverAll(ctx) })
	for {
		text, err := s.redis.BLMove(ctx, persistList, backupList, "RIGHT", "LEFT", persistWait).Result()
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, redis.Nil):
		case err != nil:
			return fmt.Errorf("move: %w", err)
		default:
			s.persist(ctx, text) // the article logs a failure; the entry stays in the backup list
		}
	}
}

// recoverAll scans the backup list repeatedly. The entry that the consumer is writing is there too; the primary key of the table
// detail makes sure that the grab is written once.
func (s *RedisQueueAsync) recoverAll(ctx context.Context) {
	tick := time.NewTicker(recoverEvery)
	defer tick.Stop()
	for {
		entries, _ := s.redis.LRange(ctx, backupList, 0, -1).Result()
		for _, text := range entries {
			s.persist(ctx, text)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// persist writes an entry, unless SQL has it, and removes it from the backup list.
func (s *RedisQueueAsync) persist(ctx context.Context, text string) {
	var p piece
	if json.Unmarshal([]byte(text), &p) != nil {
		return
	}
	err := s.db.Transact(ctx, func(tx pgx.Tx) error { return s.store(ctx, tx, p) })
	if err == nil || errors.Is(err, errHasOne) {
		_ = s.redis.LRem(ctx, backupList, 1, text).Err() // after a failure it is tried again
	}
}
