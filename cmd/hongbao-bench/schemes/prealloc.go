package schemes

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/jackc/pgx/v5"
)

// Prealloc is article 3's allocation beforehand. Shares are rows with a status and a version. A grab takes a random available
// share, if the share's version is still the one that was read. Otherwise the grab starts again. It has three tries.
//
// Fewer grabs want the same row than in Optimistic, until few shares are left: then all grabs want those, and a grab that loses three
// times gets nothing. The author reads all available shares and picks one. Here an index gives the next one from a random position,
// which favours the scheme: the cost is the same for a hundred shares as for a hundred thousand.
type Prealloc struct {
	pieces
}

var _ Scheme = (*Prealloc)(nil)

// NewPrealloc makes the scheme.
func NewPrealloc(db *Database) *Prealloc { return &Prealloc{pieces{activities{db}}} }

// Grab implements Scheme.
func (s *Prealloc) Grab(ctx context.Context, packet, user string) (Answer, error) {
	return again(ctx, s.db, packet, func(tx pgx.Tx) (Answer, error) { return s.take(ctx, tx, packet, user) })
}

func (s *Prealloc) take(ctx context.Context, tx pgx.Tx, packet, user string) (Answer, error) {
	var total int
	err := tx.QueryRow(ctx, `select total_pieces from activity where id = $1`, packet).Scan(&total)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return Answer{Verdict: Unknown}, nil
	case err != nil:
		return Answer{}, err
	}
	p, err := s.available(ctx, tx, packet, rand.N(total))
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return s.lateAnswer(ctx, tx, packet, user)
	case err != nil:
		return Answer{}, err
	}
	updated, err := tx.Exec(ctx, `update piece set status = 2, version = version + 1
		where activity_id = $1 and id = $2 and status = 1 and version = $3`, packet, p.ID, p.version)
	switch {
	case err != nil:
		return Answer{}, err
	case updated.RowsAffected() == 0:
		return Answer{}, errConflict
	}
	return Answer{Verdict: Got, Amount: p.Amount}, s.pay(ctx, tx, packet, user, p.Amount)
}

// available returns the first available share from this number on. If there is none, it returns the first available share of the
// packet. If no share is available, the error is pgx.ErrNoRows.
func (s *Prealloc) available(ctx context.Context, tx pgx.Tx, packet string, from int) (p piece, err error) {
	for _, from := range []int{from, 0} {
		err = tx.QueryRow(ctx, `select id, amount, version from piece where activity_id = $1 and status = 1 and id >= $2
			order by id limit 1`, packet, from).Scan(&p.ID, &p.Amount, &p.version)
		if !errors.Is(err, pgx.ErrNoRows) {
			break
		}
	}
	return p, err
}
