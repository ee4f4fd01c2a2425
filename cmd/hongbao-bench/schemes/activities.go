package schemes

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// activities is the common code of article 3's schemes, over the tables of the article. Packets are rows, and shares are equal.
// All work is done in the request, except in RedisQueueAsync.
type activities struct {
	db *Database
}

// errHasOne rolls the transaction back: the user already has a share of this packet.
var errHasOne = errors.New("has a share")

// Open implements Scheme.
func (s activities) Open(ctx context.Context, p Packet) error {
	if err := s.db.Exec(ctx, `insert into activity (id, sender, total_amount, amount_left, total_pieces, pieces_left)
		values ($1, $2, $3, $3, $4, $4)`, p.ID, p.Sender, p.Total(), len(p.Shares)); err != nil {
		return fmt.Errorf("open %s: %w", p.ID, err)
	}
	return nil
}

// Run implements Scheme: there is no background work. RedisQueueAsync has a Run of its own.
func (activities) Run(context.Context) error { return nil }

// Stored implements Scheme.
func (s activities) Stored(ctx context.Context, packet string) (b Book, err error) {
	err = s.db.Transact(ctx, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, `select amount_left from activity where id = $1 for share`, packet).Scan(&b.Left); err != nil {
			return err
		}
		b.Paid, err = readPaid(ctx, tx, `select user_id, amount from detail where activity_id = $1 order by created_at`, packet)
		return err
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return Book{}, ErrNotFound
	case err != nil:
		return Book{}, fmt.Errorf("read %s: %w", packet, err)
	}
	return b, nil
}

// left is the rest of a packet.
type left struct {
	amount, pieces int64
	version        int
}

// left reads the rest with one statement of its own, without a lock.
func (s activities) left(ctx context.Context, packet string) (l left, err error) {
	err = s.db.With(ctx, func(c *pgx.Conn) error {
		l, err = readLeft(ctx, c, packet)
		return err
	})
	return l, err
}

// readLeft reads without a lock.
func readLeft(ctx context.Context, q interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}, packet string) (l left, err error) {
	err = q.QueryRow(ctx, `select amount_left, pieces_left, version from activity where id = $1`, packet).Scan(&l.amount, &l.pieces, &l.version)
	return l, err
}

// equalShare returns the next share: all differ by at most one, and the last takes the rest.
func equalShare(amountLeft, piecesLeft int64) int64 { return amountLeft / piecesLeft }

// pay stores the grab and credits the user. It returns errHasOne if the user has a share of the packet.
func (activities) pay(ctx context.Context, tx pgx.Tx, packet, user string, amount int64) error {
	inserted, err := tx.Exec(ctx, `insert into detail (activity_id, user_id, amount) values ($1, $2, $3) on conflict do nothing`, packet, user, amount)
	if err != nil {
		return err
	}
	if inserted.RowsAffected() == 0 {
		return errHasOne
	}
	_, err = tx.Exec(ctx, `insert into wallet (user_id, balance) values ($1, $2)
		on conflict (user_id) do update set balance = wallet.balance + excluded.balance`, user, amount)
	return err
}

// lateAnswer is the answer when no share is left: Already if the user has a share of the packet, else Gone.
func (activities) lateAnswer(ctx context.Context, tx pgx.Tx, packet, user string) (Answer, error) {
	var has bool
	err := tx.QueryRow(ctx, `select exists (select from detail where activity_id = $1 and user_id = $2)`, packet, user).Scan(&has)
	if has {
		return Answer{Verdict: Already}, err
	}
	return Answer{Verdict: Gone}, err
}
