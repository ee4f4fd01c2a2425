package pgstore

import (
	"context"

	"hongbao/chat"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/tables"
)

// standingJob is one call of Standing. Its committer fills in the result.
type standingJob struct {
	room, user string
	standing   chat.Standing
}

// Standing implements chat.Store. Concurrent calls share a query: when many users without a cached standing grab at
// once, a query for each would cost more than the rest of their grabs.
func (s *Store) Standing(ctx context.Context, room, user string) (chat.Standing, error) {
	ctx, cancel := context.WithTimeout(ctx, pg.Patience) // covers the wait in the queue, too: earlier batches may take as long
	defer cancel()
	a := &standingJob{room: room, user: user}
	if err := s.standings.DoRead(ctx, a); err != nil {
		return chat.Standing{}, tables.Outcome("read standing", err)
	}
	return a.standing, nil
}

const standingsOf = `
select m.state is not null, case when r.deleted_at <> 0 then 'gone' else coalesce(m.state, '') end, coalesce(m.banned, false), coalesce(m.role, ''), coalesce(m.muted_until, 0),
	coalesce(m.joined_seq, 0), coalesce(m.banned_until, 0), coalesce((select u.self_received is not null from users u where u.id = m.user_id), false),
	coalesce(r.kind = 'public' and r.deleted_at = 0, false)
from unnest($1::text[], $2::text[]) with ordinality i (room_id, user_id, n)
left join rooms r on r.id = i.room_id
left join members m on m.room_id = i.room_id and m.user_id = i.user_id order by n`

// standAll answers all jobs with one query. It locks nothing, so it never returns a locked key.
func (s *Store) standAll(ctx context.Context, all []*standingJob, _ bool) (locked []string, err error) {
	rooms, users := make([]string, len(all)), make([]string, len(all))
	for i, a := range all {
		rooms[i], users[i] = a.room, a.user
	}
	return nil, s.withReader(ctx, func(r reader) error {
		if _, err := r.PrepareAll(standingsOf); err != nil {
			return err
		}
		standings, err := tables.List(r, scanStandingOf, standingsOf, rooms, users)
		for i, st := range standings {
			all[i].standing = st
		}
		return err
	})
}

func scanStandingOf(rs tables.Row) (chat.Standing, error) {
	var (
		ever, visible bool
		s             tables.StoredStanding
	)
	err := rs.Scan(append(append([]any{&ever}, s.Into()...), &visible)...)
	if !ever {
		return chat.Standing{Visible: visible}, err
	}
	return s.Standing(), err
}
