package schemes

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Pessimistic is article 3's row lock. Each grab is one transaction, which locks the packet's row, takes a share and inserts the
// detail. A grab is answered after its commit, and nothing is lost. But all grabs of a packet wait in one queue, and each holds the
// lock for some round trips and one fsync.
type Pessimistic struct {
	activities
}

var _ Scheme = (*Pessimistic)(nil)

// NewPessimistic makes the scheme.
func NewPessimistic(db *Database) *Pessimistic { return &Pessimistic{activities{db}} }

// Grab implements Scheme.
func (s *Pessimistic) Grab(ctx context.Context, packet, user string) (a Answer, err error) {
	err = s.db.Transact(ctx, func(tx pgx.Tx) error {
		a, err = s.take(ctx, tx, packet, user)
		return err
	})
	switch {
	case errors.Is(err, errHasOne): // the taken share is rolled back
		return Answer{Verdict: Already}, nil
	case err != nil:
		return Answer{}, fmt.Errorf("grab %s: %w", packet, err)
	}
	return a, nil
}

func (s *Pessimistic) take(ctx context.Context, tx pgx.Tx, packet, user string) (Answer, error) {
	var amountLeft, piecesLeft int64
	err := tx.QueryRow(ctx, `select amount_left, pieces_left from activity where id = $1 for update`, packet).Scan(&amountLeft, &piecesLeft)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return Answer{Verdict: Unknown}, nil
	case err != nil:
		return Answer{}, err
	case piecesLeft == 0:
		return s.lateAnswer(ctx, tx, packet, user)
	}
	amount := equalShare(amountLeft, piecesLeft)
	if _, err := tx.Exec(ctx, `update activity set amount_left = amount_left - $2, pieces_left = pieces_left - 1 where id = $1`, packet, amount); err != nil {
		return Answer{}, err
	}
	return Answer{Verdict: Got, Amount: amount}, s.pay(ctx, tx, packet, user, amount)
}
