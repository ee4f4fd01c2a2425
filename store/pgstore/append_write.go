package pgstore

import (
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/store/chain"
	"hongbao/store/tables"
)

// appendAccepted assigns the next seqs of the rooms to the drafts, in the order of the jobs, and refuses drafts that the
// state of the room forbids. It writes the others with one statement for each table.
func (w *writer) appendAccepted(jobs []*appendJob) error {
	if len(jobs) == 0 {
		return nil
	}
	counters, err := w.lockCounters(jobs)
	if err != nil {
		return err
	}
	var entries newEntries
	for _, j := range jobs {
		d := &j.draft
		c := counters[d.Room]
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
		c.count(d.Kind)
		j.entry = chat.Entry{
			Room: d.Room, Seq: c.lastSeq, ID: d.ID, At: tables.Millis(d.At.UnixMilli()), From: d.From, Kind: d.Kind, Key: d.Key, Body: d.Body,
		}
		entries.add(j.entry, d.Hash, c.contentNo)
		entries.mention(j.entry, d.Mentions)
	}
	return w.write(&entries, counters)
}

// counter holds the last seq of a room, the number of its content entries, and what in the room may forbid a draft.
type counter struct {
	lastSeq, contentNo int64
	deserted           bool // see desertedColumn
	deleted, frozen    bool
}

func (c *counter) count(kind chat.EntryKind) {
	c.lastSeq++
	if kind.Content() {
		c.contentNo++
	}
}

// lockCounters locks the rooms and reads their counters. Until the commit, no other transaction can assign seqs in
// them. A room that does not exist has no counter.
func (w *writer) lockCounters(jobs []*appendJob) (map[string]*counter, error) {
	wanted := map[string]bool{}
	for _, j := range jobs {
		wanted[j.draft.Room] = true
	}
	counters := make(map[string]*counter, len(wanted))
	b := &pgx.Batch{}
	b.Queue(`select id, last_seq, content_no, `+desertedColumn+`, deleted_at <> 0, frozen from rooms where id = any($1) order by id for update`,
		slices.Collect(maps.Keys(wanted))).Query(func(rs pgx.Rows) error {
		for rs.Next() {
			id, c := "", &counter{}
			if err := rs.Scan(&id, &c.lastSeq, &c.contentNo, &c.deserted, &c.deleted, &c.frozen); err != nil {
				return err
			}
			counters[id] = c
		}
		return rs.Err()
	})
	return counters, w.sendBatch(b)
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

// queueMentions makes the batch insert the mentions of members. Mentions of other users would only cost space: the list of a
// user's mentions leaves out rooms that the user is not in.
func (l *newEntries) queueMentions(b *pgx.Batch) {
	if len(l.mentioned) == 0 {
		return
	}
	b.Queue(`insert into mentions (/*! bucket, */ user_id, at, room_id, seq)
		select /*! bucket_of(l.user_id), */ l.user_id, l.at, l.room_id, l.seq from unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[]) as l (user_id, at, room_id, seq)
		join members m on m.room_id = l.room_id and m.user_id = l.user_id and m.state = 'in'`, l.mentioned, l.mentionAts, l.mentionRooms, l.mentionSeqs)
}

// write inserts the entries with their keys and mentions, and stores the new counters and read_seqs. The idempotency
// keys come first, because only they can collide with those of concurrent transactions. After a collision, write
// returns tables.ErrRetry, or errKeyTaken if the other transaction does not end. The transaction is then rolled back,
// no seq is used up, and the jobs are run again.
func (w *writer) write(l *newEntries, counters map[string]*counter) error {
	if len(l.rooms) == 0 {
		return nil
	}
	link, err := w.chained(l.leaves...)
	if err != nil {
		return err
	}
	inserted := int64(0)
	b := &pgx.Batch{}
	if w.citus { // see writer.begin
		if err := simple(w.ctx, w.conn, boundKeys); err != nil {
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
	b.Queue(`insert into entries (/*! bucket, */ `+tables.EntryColumns+`, content_no, name_seal, text_seal, link)
		select /*! bucket_of(room_id), */ `+tables.EntryColumns+`, content_no, name_seal, text_seal, $14 from unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[], $5::text[], $6::text[],
			$7::text[], $8::text[], $9::text[], $10::text[], $11::bigint[],
			$12::bytea[], $13::bytea[]) as l (`+tables.EntryColumns+`, content_no, name_seal, text_seal)`,
		l.rooms, l.seqs, l.ids, l.ats, l.senders, l.names, l.avatars, l.kinds, l.keys, l.bodies, l.contentNos,
		l.nameSeals, l.textSeals, link)
	l.queueMentions(b)
	l.queueRead(b)
	queueCounters(b, counters)
	switch err := w.sendBatch(b); {
	case lockTimeout(err): // all rows are locked, so a key caused the wait
		return fmt.Errorf("%w: %w", errKeyTaken, err)
	case err != nil:
		return err
	case inserted < int64(len(l.rooms)):
		return tables.ErrRetry
	}
	for i, room := range l.rooms {
		w.refs.Entry(room, l.seqs[i], chat.EntryKind(l.kinds[i]))
	}
	return nil
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

func queueCounters(b *pgx.Batch, counters map[string]*counter) {
	var rooms []string
	var lastSeqs, contentNos []int64
	for id, c := range counters {
		rooms, lastSeqs, contentNos = append(rooms, id), append(lastSeqs, c.lastSeq), append(contentNos, c.contentNo)
	}
	b.Queue(`update rooms r set last_seq = l.last_seq, content_no = l.content_no
		from unnest($1::text[], $2::bigint[], $3::bigint[]) as l (id, last_seq, content_no) where r.id = l.id`, rooms, lastSeqs, contentNos)
}
