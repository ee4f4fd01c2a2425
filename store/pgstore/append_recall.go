package pgstore

import (
	"github.com/jackc/pgx/v5"

	"hongbao/chat"
)

type (
	userKey  struct{ user, key string }
	roomUser struct{ room, user string }
)

// recalled is what SQL knows about a batch of drafts before they are written.
type recalled struct {
	requests  map[userKey]kept
	standings map[roomUser]chat.Standing
	public    map[string]bool // rooms that a stranger may know of
}

// kept is a request that was answered before, with the entry that it made, if it made one.
type kept struct {
	hash  []byte
	entry chat.Entry
}

// standing of a user to a room; whoever is not recalled has never been a member.
func (k *recalled) standing(room, user string) chat.Standing {
	if st, ok := k.standings[roomUser{room, user}]; ok {
		return st
	}
	return chat.Standing{Visible: k.public[room]}
}

// recall looks the keys up and then locks the senders' rows, in one round trip. A key that comes in while it waits for
// a lock is found when it cannot be inserted.
func (w *writer) recall(jobs []*appending) (*recalled, error) {
	users, keys, rooms := make([]string, len(jobs)), make([]string, len(jobs)), make([]string, len(jobs))
	for i, j := range jobs {
		users[i], keys[i], rooms[i] = j.draft.From.ID, j.draft.Key, j.draft.Room
	}
	k := &recalled{map[userKey]kept{}, make(map[roomUser]chat.Standing, len(jobs)), nil}
	b := &pgx.Batch{}
	b.Queue(`select r.user_id, r.key, r.hash, coalesce(e.room_id, ''), coalesce(e.seq, 0), coalesce(e.id, ''), coalesce(e.at, 0),
			coalesce(e.sender, ''), coalesce(e.sender_name, ''), coalesce(e.sender_avatar, ''), coalesce(e.kind, ''),
			coalesce(e.key, ''), coalesce(e.body, '')
		from unnest($1::text[], $2::text[]) as asked (user_id, key)
		join requests r on r.user_id = asked.user_id and r.key = asked.key
		left join entries e on e.room_id = r.room_id and e.seq = r.seq`, users, keys).Query(k.scanRequests)
	b.Queue(`select m.room_id, m.user_id, `+standingColumns+` from members m
		join (select distinct room_id, user_id from unnest($1::text[], $2::text[]) as asked (room_id, user_id)) asked
			on asked.room_id = m.room_id and asked.user_id = m.user_id
		order by m.room_id, m.user_id for update of m`, rooms, users).Query(k.scanStandings)
	if err := w.batch(b); err != nil {
		return nil, err
	}
	return k, w.recallPublic(k, jobs)
}

// recallPublic looks which of the rooms are public, if there are strangers among the senders.
func (w *writer) recallPublic(k *recalled, jobs []*appending) error {
	var strange []string
	for _, j := range jobs {
		if _, ok := k.standings[roomUser{j.draft.Room, j.draft.From.ID}]; !ok {
			strange = append(strange, j.draft.Room)
		}
	}
	if strange == nil {
		return nil
	}
	public, err := rows(w, scanText, `select id from rooms where id = any($1) and kind = 'public' and deleted_at = 0`, strange)
	k.public = make(map[string]bool, len(public))
	for _, room := range public {
		k.public[room] = true
	}
	return err
}

func (k *recalled) scanRequests(rs pgx.Rows) error {
	for rs.Next() {
		var key userKey
		var req kept
		if err := rs.Scan(append([]any{&key.user, &key.key, &req.hash}, entryInto(&req.entry)...)...); err != nil {
			return err
		}
		k.requests[key] = req
	}
	return rs.Err()
}

func (k *recalled) scanStandings(rs pgx.Rows) error {
	for rs.Next() {
		var at roomUser
		var st storedStanding
		if err := rs.Scan(append([]any{&at.room, &at.user}, st.into()...)...); err != nil {
			return err
		}
		k.standings[at] = st.standing()
	}
	return rs.Err()
}
