package sqlitestore

import (
	"context"
	"database/sql"
	"time"

	"hongbao/chat"
	"hongbao/store/cursor"
)

// Bans implements chat.Store.
func (s *Store) Bans(ctx context.Context, room, next string, limit int, now time.Time) (bans []chat.Banned, more string, err error) {
	from := ""
	if next != "" {
		if err := cursor.Parse("bans", next, &from); err != nil {
			return nil, "", err
		}
	}
	const query = `select m.user_id, coalesce(u.name, ''), coalesce(u.avatar, ''), m.banned_until, m.ban_reason
		from members m left join users u on u.id = m.user_id
		where m.room_id = ?1 and m.user_id > ?2 and m.banned and (m.banned_until = 0 or m.banned_until > ?3) order by m.user_id limit ?4`
	bans, err = rows(reader{ctx, s.read}, scanBanned, query, room, from, now.UnixMilli(), limit+1)
	if err != nil {
		return nil, "", outcome("list bans", err)
	}
	if len(bans) > limit {
		bans = bans[:limit]
		more = cursor.Make("bans", bans[limit-1].User.ID)
	}
	return bans, more, nil
}

func scanBanned(rs *sql.Rows) (b chat.Banned, err error) {
	var until int64
	err = rs.Scan(&b.User.ID, &b.User.Name, &b.User.Avatar, &until, &b.Reason)
	if until > 0 {
		b.Until = fromMillis(until)
	}
	return b, err
}
