package pgstore

import (
	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/store/tables"
)

type (
	userKey  struct{ user, key string }
	roomUser struct{ room, user string }
)

// appendState is what is stored about the keys and senders of a batch. It decides which drafts triage accepts. The
// state of the rooms is checked later, in appendAccepted.
type appendState struct {
	requests  map[userKey]usedKey
	standings map[roomUser]chat.Standing
	public    map[string]bool // public rooms; read only if a sender was never a member
}

// usedKey is a request that was answered before: its hash, and the entry that it made, if any.
type usedKey struct {
	hash  []byte
	entry chat.Entry
}

// standing returns the user's standing in the room. A user without a stored standing was never a member.
func (k *appendState) standing(room, user string) chat.Standing {
	if st, ok := k.standings[roomUser{room, user}]; ok {
		return st
	}
	return chat.Standing{Visible: k.public[room]}
}

// readAppendState looks up the keys and then locks the senders' member rows, in one round trip. A second one follows if a
// sender was never a member. If another transaction inserts one of the keys while this one waits for a lock, the lookup
// misses that key. The insert of the key then notices it.
func (w *writer) readAppendState(jobs []*appendJob) (*appendState, error) {
	users, keys, rooms := make([]string, len(jobs)), make([]string, len(jobs)), make([]string, len(jobs))
	for i, j := range jobs {
		users[i], keys[i], rooms[i] = j.draft.From.ID, j.draft.Key, j.draft.Room
	}
	k := &appendState{map[userKey]usedKey{}, make(map[roomUser]chat.Standing, len(jobs)), nil}
	b := &pgx.Batch{}
	asked := []any{users, keys}
	if w.citus {
		asked = append(asked, rooms)
	}
	b.Queue(tables.FirstOnCitus( // the entry of a key is in one of the rooms, or the key was used for other content
		tables.Of("r", "requests", `bucket = any(buckets_of($1::text[])) and user_id = any($1::text[]) and key = any($2::text[])`),
		tables.Of("e", "entries", `bucket = any(buckets_of($3::text[])) and (room_id, seq) in (select room_id, seq from r)`))+`select r.user_id, r.key, r.hash, coalesce(e.room_id, ''), coalesce(e.seq, 0), coalesce(e.id, ''), coalesce(e.at, 0),
			coalesce(e.sender, ''), coalesce(e.sender_name, ''), coalesce(e.sender_avatar, ''), coalesce(e.kind, ''),
			coalesce(e.key, ''), coalesce(e.body, '')
		from unnest($1::text[], $2::text[]) as asked (user_id, key)
		join /*one*/ requests /*end*/ r on r.user_id = asked.user_id and r.key = asked.key
		left join /*one*/ entries /*end*/ e on e.room_id = r.room_id and e.seq = r.seq`, asked...).Query(k.scanRequests)
	b.Queue(`select m.room_id, m.user_id, `+tables.StandingColumns+` from members m
		join (select distinct room_id, user_id from unnest($1::text[], $2::text[]) as asked (room_id, user_id)) asked
			on asked.room_id = m.room_id and asked.user_id = m.user_id
		order by m.room_id, m.user_id for update of m`, rooms, users).Query(k.scanStandings)
	if err := w.sendBatch(b); err != nil {
		return nil, err
	}
	return k, w.readPublicRooms(k, jobs)
}

// readPublicRooms reads which rooms are public, if some senders were never members of their rooms.
func (w *writer) readPublicRooms(k *appendState, jobs []*appendJob) error {
	var strangersRooms []string
	for _, j := range jobs {
		if _, ok := k.standings[roomUser{j.draft.Room, j.draft.From.ID}]; !ok {
			strangersRooms = append(strangersRooms, j.draft.Room)
		}
	}
	if strangersRooms == nil {
		return nil
	}
	public, err := tables.List(w, tables.ScanText, `select id from rooms where id = any($1) and kind = 'public' and deleted_at = 0`, strangersRooms)
	k.public = make(map[string]bool, len(public))
	for _, room := range public {
		k.public[room] = true
	}
	return err
}

func (k *appendState) scanRequests(rs pgx.Rows) error {
	for rs.Next() {
		var key userKey
		var req usedKey
		if err := rs.Scan(append([]any{&key.user, &key.key, &req.hash}, tables.EntryInto(&req.entry)...)...); err != nil {
			return err
		}
		k.requests[key] = req
	}
	return rs.Err()
}

func (k *appendState) scanStandings(rs pgx.Rows) error {
	for rs.Next() {
		var at roomUser
		var st tables.StoredStanding
		if err := rs.Scan(append([]any{&at.room, &at.user}, st.Into()...)...); err != nil {
			return err
		}
		k.standings[at] = st.Standing()
	}
	return rs.Err()
}
