package schemes

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Optimistic is article 3's version column: read the packet, and write it if its version is still the one that was read.
// Otherwise start again. A grab has three tries, as in the author's code.
//
// Of all grabs that read the same version at most one wins, and the work of the others is wasted. A grab that loses three times
// gets nothing, although shares are left.
type Optimistic struct {
	activities
}

var _ Scheme = (*Optimistic)(nil)

// tries is how often a grab is tried at most, if it meets conflicts: the author's number.
const tries = 3

// NewOptimistic makes the scheme.
func NewOptimistic(db *Database) *Optimistic { return &Optimistic{activities{db}} }

// errConflict rolls the transaction back: another grab was faster.
var errConflict = errors.New("another grab was faster")

// Grab implements Scheme.
func (s *Optimistic) Grab(ctx context.Context, packet, user string) (Answer, error) {
	return again(ctx, s.db, packet, func(tx pgx.Tx) (Answer, error) { return s.take(ctx, tx, packet, user) })
}

// again calls take in a transaction. After a conflict it calls take again in a new one, up to tries times in all.
func again(ctx context.Context, db *Database, packet string, take func(tx pgx.Tx) (Answer, error)) (a Answer, err error) {
	for retries := range tries {
		err = db.Transact(ctx, func(tx pgx.Tx) error {
			a, err = take(tx)
			return err
		})
		switch {
		case errors.Is(err, errConflict):
			continue
		case errors.Is(err, errHasOne): // the taken share is rolled back
			a, err = Answer{Verdict: Already}, nil
		case err != nil:
			return Answer{}, fmt.Errorf("grab %s: %w", packet, err)
		}
		a.Retries = retries
		return a, nil
	}
	return Answer{Verdict: GaveUp, Retries: tries - 1}, nil
}

func (s *Optimistic) take(ctx context.Context, tx pgx.Tx, packet, user string) (Answer, error) {
	left, err := readLeft(ctx, tx, packet)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return Answer{Verdict: Unknown}, nil
	case err != nil:
		return Answer{}, err
	case left.pieces == 0:
		return s.lateAnswer(ctx, tx, packet, user)
	}
	amount := equalShare(left.amount, left.pieces)
	updated, err := tx.Exec(ctx, `update activity set amount_left = amount_left - $2, pieces_left = pieces_left - 1, version = version + 1
		where id = $1 and version = $3`, packet, amount, left.version)
	switch {
	case err != nil:
		return Answer{}, err
	case updated.RowsAffected() == 0:
		return Answer{}, errConflict
	}
	return Answer{Verdict: Got, Amount: amount}, s.pay(ctx, tx, packet, user, amount)
}
