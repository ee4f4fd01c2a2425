package sqlitestore

import (
	"context"
	"database/sql"
)

// Roster implements chat.Store.
func (s *Store) Roster(ctx context.Context, room string, limit int) ([]string, error) {
	users, err := rows(reader{ctx, s.read}, scanID, `select user_id from members where room_id = ? and state = 'in' limit ?`, room, limit)
	return users, outcome("read roster", err)
}

func scanID(rs *sql.Rows) (id string, err error) {
	err = rs.Scan(&id)
	return id, err
}
