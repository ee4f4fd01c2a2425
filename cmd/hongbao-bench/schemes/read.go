package schemes

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// readPaid reads users and amounts.
func readPaid(ctx context.Context, q interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}, query, packet string) ([]Paid, error) {
	rows, err := q.Query(ctx, query, packet)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Paid])
}
