package growth

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Settings are what a server of Postgres needs, so that Count can count.
var Settings = []string{"shared_preload_libraries=pg_stat_statements", "pg_stat_statements.track=all"}

// Count counts the pages that each statement reads in a database, from memory or from disk. Conn is a connection to it, with which nothing else is done.
func Count(ctx context.Context, conn *pgx.Conn) (pages func(ctx context.Context) (map[string]int64, error), err error) {
	if _, err := conn.Exec(ctx, `create extension if not exists pg_stat_statements`); err != nil {
		return nil, err
	}
	return func(ctx context.Context) (map[string]int64, error) {
		rows, err := conn.Query(ctx, `select query, sum(shared_blks_hit + shared_blks_read)::bigint from pg_stat_statements s
			join pg_database d on d.oid = s.dbid where d.datname = current_database() and s.query not like '%pg_stat_statements%' group by query`)
		if err != nil {
			return nil, err
		}
		read, statement, n := map[string]int64{}, "", int64(0)
		_, err = pgx.ForEachRow(rows, []any{&statement, &n}, func() error {
			read[statement] = n
			return nil
		})
		return read, err
	}, nil
}
