package schemes

import (
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
)

// Lock is article 3's distributed lock. There is one key a packet, with its owner and a lease; a script that checks the owner
// releases it. The holder reads the packet with plain SQL, takes a share and inserts the detail.
//
// Every grab of the packet waits for one holder. A lease may end while its holder is slow: then two holders may have read the
// same packet, and both take. The text does not say how a caller waits; here it retries every few milliseconds until its context
// ends.
type Lock struct {
	activities

	redis redis.UniversalClient
	lease time.Duration
}

var _ Scheme = (*Lock)(nil)

const (
	lockLease = 5 * time.Second
	lockEvery = 3 * time.Millisecond // pause between two tries, on average
)

// NewLock makes the scheme. A lease ends by itself, whether its holder has finished or not.
func NewLock(r redis.UniversalClient, db *Database, lease time.Duration) *Lock {
	return &Lock{activities: activities{db}, redis: r, lease: lease}
}

//go:embed lock_release.lua
var lockRelease string

var lockReleaseScript = redis.NewScript(lockRelease)

func lockKey(packet string) string { return "redpack:lock:" + packet }

// Grab implements Scheme.
func (s *Lock) Grab(ctx context.Context, packet, user string) (a Answer, err error) {
	owner := rand.Text()
	tries, err := s.acquire(ctx, packet, owner)
	if err != nil {
		return Answer{}, fmt.Errorf("lock %s: %w", packet, err)
	}
	a, err = s.take(ctx, packet, user)
	a.Retries = tries - 1
	// A lock that is not released ends with its lease.
	_ = lockReleaseScript.Run(context.WithoutCancel(ctx), s.redis, []string{lockKey(packet)}, owner).Err()
	switch {
	case errors.Is(err, errHasOne):
		return Answer{Verdict: Already, Retries: a.Retries}, nil
	case err != nil:
		return Answer{}, fmt.Errorf("grab %s: %w", packet, err)
	}
	return a, nil
}

// acquire retries until it has the lock, and returns the number of tries.
func (s *Lock) acquire(ctx context.Context, packet, owner string) (tries int, err error) {
	for {
		tries++
		err := s.redis.SetArgs(ctx, lockKey(packet), owner, redis.SetArgs{Mode: "NX", TTL: s.lease}).Err()
		if !errors.Is(err, redis.Nil) {
			return tries, err
		}
		select {
		case <-time.After(lockEvery/2 + mathrand.N(lockEvery)):
		case <-ctx.Done():
			return tries, ctx.Err()
		}
	}
}

// take reads the rest and then writes what follows from it. It relies on the lock to keep other grabs out.
func (s *Lock) take(ctx context.Context, packet, user string) (Answer, error) {
	left, err := s.left(ctx, packet)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return Answer{Verdict: Unknown}, nil
	case err != nil:
		return Answer{}, err
	}
	a := Answer{Verdict: Got}
	err = s.db.Transact(ctx, func(tx pgx.Tx) error {
		if left.pieces == 0 {
			a, err = s.lateAnswer(ctx, tx, packet, user)
			return err
		}
		a.Amount = equalShare(left.amount, left.pieces)
		if _, err := tx.Exec(ctx, `update activity set amount_left = amount_left - $2, pieces_left = pieces_left - 1 where id = $1`, packet, a.Amount); err != nil {
			return err
		}
		return s.pay(ctx, tx, packet, user, a.Amount)
	})
	return a, err
}
