package pgstore

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/store/chain"
	"hongbao/store/eventlog"
	"hongbao/store/pgstore/internal/batch"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/tables"
)

// appendJob is one call of Append. The committer of entries fills in the result.
type appendJob struct {
	draft chat.Draft

	maybeCommitted bool // an earlier run of the job may have been committed
	entry          chat.Entry
	dup            bool
	err            error // a refusal
}

// Append implements chat.Store.
func (s *Store) Append(ctx context.Context, d chat.Draft) (chat.Entry, bool, error) {
	j := &appendJob{draft: d}
	err := s.entries.Do(ctx, j)
	if err == nil {
		err = j.err
	}
	if err != nil {
		return chat.Entry{}, false, tables.Outcome("append entry", err)
	}
	return j.entry, j.dup, nil
}

// appendAll runs a batch of jobs in one transaction. For skipLocked and locked see work.run.
func (s *Store) appendAll(ctx context.Context, jobs []*appendJob, skipLocked bool) (locked []string, err error) {
	err = s.groupTx(ctx, func(w *writer) (committing bool, err error) {
		for _, j := range jobs {
			j.maybeCommitted = j.maybeCommitted || w.maybeCommitted
		}
		free := jobs
		if skipLocked {
			if locked, err = beginFreeAppends(w, jobs); err != nil {
				return false, err
			}
			free = unlocked(jobs, locked)
		} else if err := w.begin(boundGroup); err != nil {
			return false, err
		}
		if err := w.appendFree(free); err != nil {
			return false, err
		}
		return true, w.commit()
	})
	return locked, err
}

// beginFreeAppends begins a transaction and locks the rows that the jobs need, without waiting. For each job, it
// returns the key of a row that another transaction has locked, or "".
func beginFreeAppends(w *writer, jobs []*appendJob) (locked []string, err error) {
	rooms, users := make([]string, len(jobs)), make([]string, len(jobs))
	for i, j := range jobs {
		rooms[i], users[i] = j.draft.Room, j.draft.From.ID
	}
	f := newFreeLocks(w.Citus)
	f.want(memberRow, `select m.room_id || '/' || m.user_id from members m
		join unnest($1::text[], $2::text[]) i (room_id, user_id) on i.room_id = m.room_id and i.user_id = m.user_id`,
		` for update of m`, rooms, users)
	f.want(roomRow, `select id from rooms where id = any($1::text[])`, ` for update`, rooms)
	taken, err := f.begin(w)
	return lockedKeys(jobs, keysOfDraft, taken), err
}

func keysOfDraft(j *appendJob) [3]string {
	return [3]string{roomRow + j.draft.Room, memberRow + j.draft.Room + "/" + j.draft.From.ID}
}

// appendWork returns how the committer of entries runs its jobs.
func (s *Store) appendWork() batch.Work[*appendJob] {
	return batch.Work[*appendJob]{
		Span:     "postgres append",
		Run:      s.appendAll,
		Keys:     keysOfDraft,
		Wrote:    func(j *appendJob) bool { return j.err == nil && !j.dup },
		Judge:    judge,
		Patience: pg.Patience,
	}
}

// appendFree appends the drafts of the jobs in a transaction that has begun, and stores the answer in each job. It
// waits for the locks of rows that the transaction has not locked yet.
func (w *writer) appendFree(jobs []*appendJob) error {
	for _, j := range jobs {
		j.entry, j.dup, j.err = chat.Entry{}, false, nil
	}
	state, err := w.readAppendState(jobs)
	if err != nil {
		return err
	}
	accepted, repeats := w.triage(jobs, state)
	if err := w.appendAccepted(accepted); err != nil {
		return err
	}
	for _, r := range repeats {
		r.job.entry, r.job.dup, r.job.err = r.first.entry, r.first.err == nil, r.first.err
	}
	return nil
}

// repeat is a job whose idempotency key an earlier job of the same batch has: first.
type repeat struct{ job, first *appendJob }

// triage checks the jobs in order against the stored state. A job whose key is known gets the stored answer, a
// forbidden job is refused, and the rest are accepted. A later job with the key of an accepted one is a repeat, and
// gets that job's answer. If a key was used for other content, the answer is chat.ErrKeyReused.
func (w *writer) triage(jobs []*appendJob, state *appendState) (accepted []*appendJob, repeats []repeat) {
	first := map[userKey]*appendJob{}
	for _, j := range jobs {
		d := &j.draft
		key := userKey{d.From.ID, d.Key}
		if req, found := state.requests[key]; found {
			mine := j.maybeCommitted && req.entry.ID == d.ID // an earlier run of this call has made the entry
			j.entry, j.dup, j.err = req.entry, !mine, reused(req.hash, d.Hash)
			continue
		}
		if f := first[key]; f != nil {
			if j.err = reused(f.draft.Hash, d.Hash); j.err == nil {
				repeats = append(repeats, repeat{j, f})
			}
			continue
		}
		if j.err = d.Refusal(state.standing(d.Room, d.From.ID)); j.err == nil {
			first[key] = j
			accepted = append(accepted, j)
		}
	}
	return accepted, repeats
}

// reused returns chat.ErrKeyReused if the hashes differ: the key was first used for other content.
func reused(first, now []byte) error {
	if !bytes.Equal(first, now) {
		return chat.ErrKeyReused
	}
	return nil
}

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
	if w.Citus {
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
	if err := w.SendBatch(b); err != nil {
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

// appendAccepted assigns the next seqs of the rooms to the drafts, in the order of the jobs, and refuses drafts that the
// state of the room forbids. It writes the others with one statement for each table.
func (w *writer) appendAccepted(jobs []*appendJob) error {
	if len(jobs) == 0 {
		return nil
	}
	rooms := make([]string, len(jobs))
	for i, j := range jobs {
		rooms[i] = j.draft.Room
	}
	tails, err := w.lockTails(rooms)
	if err != nil {
		return err
	}
	unsent, err := w.lockFiles(jobs)
	if err != nil {
		return err
	}
	var entries newEntries
	for _, j := range jobs {
		d := &j.draft
		c := tails[d.Room]
		if c == nil || c.deleted {
			j.err = chat.ErrNotFound
			continue
		}
		if c.deserted && d.Kind.Content() {
			j.err = chat.ErrContactRefused
			continue
		}
		if j.err = chat.FrozenRefusal(c.frozen, d.From); j.err != nil {
			continue
		}
		if d.ReplyTo < 0 || d.ReplyTo > c.lastSeq {
			j.err = chat.BadField("reply_to", "must be an entry of the room")
			continue
		}
		if !unsent.take(d) {
			j.err = chat.FilesGone()
			continue
		}
		c.count(d.Kind)
		j.entry = chat.Entry{
			Room: d.Room, Seq: c.lastSeq, ID: d.ID, At: d.At.Truncate(time.Millisecond).UTC(), From: d.From, Kind: d.Kind, Key: d.Key, Body: d.Body,
		}
		entries.add(j.entry, d.Hash, c.contentNo)
		entries.mention(j.entry, d.Mentions)
		if d.MentionAll {
			entries.toAll = append(entries.toAll, j.entry)
		}
		if len(d.Files) > 0 {
			entries.files = append(entries.files, sentFiles{d.Room, d.From.ID, j.entry.Seq, d.Files})
		}
	}
	return w.write(&entries, tails)
}

// unsentFiles are files that their uploaders may send, locked.
type unsentFiles map[unsentFile]bool

type unsentFile struct{ room, user, id string }

// lockFiles locks the files of the jobs that may be sent.
func (w *writer) lockFiles(jobs []*appendJob) (unsentFiles, error) {
	var rooms, ids []string
	for _, j := range jobs {
		for _, id := range j.draft.Files {
			rooms, ids = append(rooms, j.draft.Room), append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	unsent := unsentFiles{}
	return unsent, w.Each(func(row tables.Row) error {
		var f unsentFile
		err := row.Scan(&f.room, &f.user, &f.id)
		unsent[f] = true
		return err
	}, `select room_id, user_id, id from files where (room_id, id) in (select room_id, id from unnest($1::text[], $2::text[]) l (room_id, id))
		and seq = 0 and state = 'ready' order by room_id, id for update`, rooms, ids)
}

// take takes the files of a draft. It returns false, and takes none, if one of them cannot be sent.
func (u unsentFiles) take(d *chat.Draft) bool {
	for _, id := range d.Files {
		if !u[unsentFile{d.Room, d.From.ID, id}] {
			return false
		}
	}
	for _, id := range d.Files {
		delete(u, unsentFile{d.Room, d.From.ID, id})
	}
	return true
}

// sentFiles are the files of a new entry.
type sentFiles struct {
	room, user string
	seq        int64
	ids        []string
}

// roomTail holds the last seq of a room, the number of its content entries, and what in the room may forbid a draft.
type roomTail struct {
	lastSeq, contentNo int64
	deserted           bool // see tables.Deserted
	deleted, frozen    bool
}

func (c *roomTail) count(kind chat.EntryKind) {
	c.lastSeq++
	if kind.Content() {
		c.contentNo++
	}
}

// lockTails locks the rooms and reads their tails. Until the commit, no other transaction can assign seqs in
// them. A room that does not exist has no tail.
func (w *writer) lockTails(rooms []string) (map[string]*roomTail, error) {
	tails := map[string]*roomTail{}
	b := &pgx.Batch{}
	b.Queue(`select id, last_seq, content_no, `+tables.Deserted+`, deleted_at <> 0, frozen from rooms where id = any($1) order by id for update`,
		rooms).Query(func(rs pgx.Rows) error {
		for rs.Next() {
			id, c := "", &roomTail{}
			if err := rs.Scan(&id, &c.lastSeq, &c.contentNo, &c.deserted, &c.deleted, &c.frozen); err != nil {
				return err
			}
			tails[id] = c
		}
		return rs.Err()
	})
	return tails, w.SendBatch(b)
}

// newEntries holds the columns of the entries to insert, and of the rows that change with them.
type newEntries struct {
	rooms, ids, senders, names, avatars, kinds, keys, bodies []string
	hashes, nameSeals, textSeals                             [][]byte
	leaves                                                   []chain.Hash
	seqs, ats, contentNos                                    []int64
	read                                                     map[roomUser]int64

	mentioned, mentionRooms []string
	mentionSeqs, mentionAts []int64

	toAll []chat.Entry // texts that mention all members of their rooms; seldom one
	files []sentFiles
}

func (l *newEntries) add(e chat.Entry, hash []byte, contentNo int64) {
	l.rooms, l.ids, l.senders = append(l.rooms, e.Room), append(l.ids, e.ID), append(l.senders, e.From.ID)
	l.names, l.avatars = append(l.names, e.From.Name), append(l.avatars, e.From.Avatar)
	l.kinds, l.keys, l.bodies = append(l.kinds, string(e.Kind)), append(l.keys, e.Key), append(l.bodies, string(e.Body))
	s := chain.NewSeals()
	l.hashes, l.nameSeals, l.textSeals = append(l.hashes, hash), append(l.nameSeals, s.Name), append(l.textSeals, s.Text)
	l.leaves = append(l.leaves, chain.EntryLeaf(e, hash, 0, s))
	l.seqs, l.ats, l.contentNos = append(l.seqs, e.Seq), append(l.ats, e.At.UnixMilli()), append(l.contentNos, contentNo)
	if e.Kind.Content() {
		if l.read == nil {
			l.read = map[roomUser]int64{}
		}
		l.read[roomUser{e.Room, e.From.ID}] = e.Seq
	}
}

// mention adds the users that the entry mentions.
func (l *newEntries) mention(e chat.Entry, users []string) {
	for _, user := range users {
		l.mentioned, l.mentionRooms = append(l.mentioned, user), append(l.mentionRooms, e.Room)
		l.mentionSeqs, l.mentionAts = append(l.mentionSeqs, e.Seq), append(l.mentionAts, e.At.UnixMilli())
	}
}

// queueMentions makes the batch insert the mentions of members, and of all members of a room. Mentions of other users would only cost space: the list of a
// user's mentions leaves out rooms that the user is not in.
func (l *newEntries) queueMentions(b *pgx.Batch) {
	for _, e := range l.toAll {
		b.Queue(tables.PutMentionOfAll, e.Room, e.At.UnixMilli(), e.Seq)
	}
	if len(l.mentioned) == 0 {
		return
	}
	b.Queue(`insert into mentions (/*! bucket, */ user_id, at, room_id, seq)
		select /*! bucket_of(l.user_id), */ l.user_id, l.at, l.room_id, l.seq from unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[]) as l (user_id, at, room_id, seq)
		join members m on m.room_id = l.room_id and m.user_id = l.user_id and m.state = 'in'`, l.mentioned, l.mentionAts, l.mentionRooms, l.mentionSeqs)
}

// write inserts the entries with their keys and mentions, and stores the new tails and read_seqs. The idempotency
// keys come first, because only they can collide with those of concurrent transactions. After a collision, write
// returns tables.ErrRetry, or errKeyTaken if the other transaction does not end. The transaction is then rolled back,
// no seq is used up, and the jobs are run again.
func (w *writer) write(l *newEntries, tails map[string]*roomTail) error {
	if len(l.rooms) == 0 {
		return nil
	}
	link, err := w.Chained(l.leaves...)
	if err != nil {
		return err
	}
	inserted := int64(0)
	b := &pgx.Batch{}
	if w.Citus { // see writer.begin
		if err := pg.Simple(w.Ctx, w.Conn, boundKeys); err != nil {
			return err
		}
	} else {
		b.Queue(boundKeys) // the rooms are locked
	}
	b.Queue(`insert into requests (/*! bucket, */ user_id, key, hash, room_id, seq)
		select /*! bucket_of(user_id), */ user_id, key, hash, room_id, seq
		from unnest($1::text[], $2::text[], $3::bytea[], $4::text[], $5::bigint[]) as l (user_id, key, hash, room_id, seq)
		order by user_id, key on conflict do nothing returning 1`, l.senders, l.keys, l.hashes, l.rooms, l.seqs).
		Query(func(rs pgx.Rows) error {
			for rs.Next() {
				inserted++
			}
			return rs.Err()
		})
	l.queueEntries(b, link)
	l.queueMentions(b)
	l.queueRead(b)
	queueTails(b, tails)
	switch err := w.SendBatch(b); {
	case pg.LockTimeout(err): // all rows are locked, so a key caused the wait
		return fmt.Errorf("%w: %w", errKeyTaken, err)
	case err != nil:
		return err
	case inserted < int64(len(l.rooms)):
		return tables.ErrRetry
	}
	for _, f := range l.files {
		if err := tables.TakeFiles(w, f.room, f.user, f.seq, f.ids); err != nil {
			return err
		}
	}
	l.note(&w.refs)
	return nil
}

// note adds the entries to what the transaction adds to the event stream.
func (l *newEntries) note(refs *eventlog.Refs) {
	for i, room := range l.rooms {
		refs.Entry(room, l.seqs[i], chat.EntryKind(l.kinds[i]))
	}
}

// queueEntries makes the batch insert the entries.
func (l *newEntries) queueEntries(b *pgx.Batch, link int64) {
	b.Queue(`insert into entries (/*! bucket, */ `+tables.EntryColumns+`, content_no, name_seal, text_seal, link)
		select /*! bucket_of(room_id), */ `+tables.EntryColumns+`, content_no, name_seal, text_seal, $14 from unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[], $5::text[], $6::text[],
			$7::text[], $8::text[], $9::text[], $10::text[], $11::bigint[],
			$12::bytea[], $13::bytea[]) as l (`+tables.EntryColumns+`, content_no, name_seal, text_seal)`,
		l.rooms, l.seqs, l.ids, l.ats, l.senders, l.names, l.avatars, l.kinds, l.keys, l.bodies, l.contentNos,
		l.nameSeals, l.textSeals, link)
}

// queueRead makes the batch advance the senders' own read_seq, and count their memberships as chosen.
func (l *newEntries) queueRead(b *pgx.Batch) {
	if len(l.read) == 0 {
		return
	}
	var rooms, users []string
	var seqs []int64
	for at, seq := range l.read {
		rooms, users, seqs = append(rooms, at.room), append(users, at.user), append(seqs, seq)
	}
	b.Queue(`update members m set read_seq = l.seq, chosen = true from unnest($1::text[], $2::text[], $3::bigint[]) as l (room_id, user_id, seq)
		where m.room_id = l.room_id and m.user_id = l.user_id`, rooms, users, seqs)
}

func queueTails(b *pgx.Batch, tails map[string]*roomTail) {
	var rooms []string
	var lastSeqs, contentNos []int64
	for id, c := range tails {
		rooms, lastSeqs, contentNos = append(rooms, id), append(lastSeqs, c.lastSeq), append(contentNos, c.contentNo)
	}
	b.Queue(`update rooms r set last_seq = l.last_seq, content_no = l.content_no
		from unnest($1::text[], $2::bigint[], $3::bigint[]) as l (id, last_seq, content_no) where r.id = l.id`, rooms, lastSeqs, contentNos)
}
