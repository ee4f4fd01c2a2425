package schemes

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// pieces is the common code of the schemes of article 3 that allocate the shares beforehand, each as a row. The author cuts
// them equal.
type pieces struct {
	activities
}

// Open implements Scheme. The packet's row does not hold the rest: the rows of its shares do.
func (s pieces) Open(ctx context.Context, p Packet) error {
	err := s.db.Transact(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `insert into activity (id, sender, total_amount, amount_left, total_pieces, pieces_left)
			values ($1, $2, $3, 0, $4, 0)`, p.ID, p.Sender, p.Total(), len(p.Shares)); err != nil {
			return err
		}
		amounts := equalShares(p)
		rows := pgx.CopyFromSlice(len(amounts), func(i int) ([]any, error) { return []any{p.ID, i, amounts[i]}, nil })
		_, err := tx.CopyFrom(ctx, pgx.Identifier{"piece"}, []string{"activity_id", "id", "amount"}, rows)
		return err
	})
	if err != nil {
		return fmt.Errorf("open %s: %w", p.ID, err)
	}
	return nil
}

func equalShares(p Packet) []int64 {
	amounts, left := make([]int64, len(p.Shares)), p.Total()
	for i := range amounts {
		amounts[i] = equalShare(left, int64(len(amounts)-i))
		left -= amounts[i]
	}
	return amounts
}

// piece is a share.
type piece struct {
	Packet  string `json:"activityId"`
	ID      int    `json:"id"`
	Amount  int64  `json:"amount"`
	User    string `json:"userId,omitempty"` // the user that has popped it
	version int
}

// store gives the piece to its user. It returns errHasOne if the user has a share of the packet.
func (s pieces) store(ctx context.Context, tx pgx.Tx, p piece) error {
	if _, err := tx.Exec(ctx, `update piece set status = 2, version = version + 1 where activity_id = $1 and id = $2`, p.Packet, p.ID); err != nil {
		return err
	}
	return s.pay(ctx, tx, p.Packet, p.User, p.Amount)
}

// Stored implements Scheme. It reads in one statement, because writes may be in progress.
func (s pieces) Stored(ctx context.Context, packet string) (b Book, err error) {
	var rows []Paid
	err = s.db.With(ctx, func(c *pgx.Conn) error {
		rows, err = readPaid(ctx, c, `select user_id, amount from detail where activity_id = $1
			union all select '', (select coalesce(sum(amount), 0)::bigint from piece where activity_id = $1 and status = 1) from activity where id = $1`, packet)
		return err
	})
	if err != nil {
		return Book{}, fmt.Errorf("read %s: %w", packet, err)
	}
	known := false
	for _, row := range rows {
		if row.User == "" {
			b.Left, known = row.Amount, true
		} else {
			b.Paid = append(b.Paid, row)
		}
	}
	if !known {
		return Book{}, ErrNotFound
	}
	return b, nil
}
