package pgstore

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/store/tables"
)

// Amend implements chat.Store.
func (s *Store) Amend(ctx context.Context, a chat.Amendment) (made chat.Amended, err error) {
	done, err := s.roomLocks.lock(ctx, a.Room)
	if err != nil {
		return chat.Amended{}, tables.Unavailable("amend entry", err)
	}
	defer done()
	var before chat.Amended // result of the previous run of the transaction, which may have been committed
	err = s.tx(ctx, func(w *writer) error {
		if made, err = w.amend(a, before); err == nil {
			before = made
		}
		return err
	})
	if err != nil {
		return chat.Amended{}, tables.Outcome("amend entry", err)
	}
	return made, nil
}

func (w *writer) amend(a chat.Amendment, before chat.Amended) (chat.Amended, error) {
	room, st, subject, err := w.lockSubject(a)
	if err != nil {
		return chat.Amended{}, err
	}
	if before.Changed {
		if mine, err := tables.CommittedBefore(w, before.Entry); err != nil || mine {
			return before, err
		}
	}
	to, err := a.Apply(st, subject, room.LastSeq+1)
	if err != nil || !to.Changed {
		return chat.Amended{Seq: to.Seq}, err
	}
	notes := []chat.Entry{{ID: a.ID, At: a.At, From: a.By, Kind: a.Kind, Body: to.Body}}
	var b pgx.Batch
	var n tables.Batch
	if err := tables.QueueNotes(w, &n, &room, notes, a.Target); err != nil {
		return chat.Amended{}, err
	}
	enqueue(&b, &n)
	queueUpdateRoom(&b, room, a.At)
	if err := queueAmendment(&b, a, to, subject.Entry.At); err != nil {
		return chat.Amended{}, err
	}
	return chat.Amended{Changed: true, Seq: notes[0].Seq, Entry: notes[0]}, w.sendBatch(&b)
}

// lockSubject locks the room and the membership of the user that amends (a.By). It reads the entry to amend, the
// subject, which is nil if there is no such entry. The entry needs no lock, because entries are amended only under the
// room's lock. lockSubject returns chat.ErrNotFound if there never was such a room.
func (w *writer) lockSubject(a chat.Amendment) (room chat.Room, st chat.Standing, subject *chat.Subject, err error) {
	var (
		b         pgx.Batch
		standings []chat.Standing
		rooms     []chat.Room
	)
	queueReadStanding(&b, a.Room, a.By.ID, " for update", &standings)
	queueReadRoom(&b, a.Room, " for update", &rooms)
	b.Queue(`select `+tables.EntryColumns+`, fold, exists (
			select 1 from reactions where room_id = $1 /*! and bucket = bucket_of($1) */ and seq = $2 and emoji = $3 and user_id = $4)
		from entries where room_id = $1 /*! and bucket = bucket_of($1) */ and seq = $2`, a.Room, a.Target, a.Emoji, a.By.ID).Query(func(rs pgx.Rows) (err error) {
		subject, err = scanSubject(rs)
		return err
	})
	if err := w.sendBatch(&b); err != nil {
		return chat.Room{}, chat.Standing{}, nil, err
	}
	if len(rooms) == 0 {
		return chat.Room{}, chat.Standing{}, nil, chat.ErrNotFound
	}
	room = rooms[0]
	if st.Visible = room.Kind == chat.Public && !room.Deleted; len(standings) > 0 {
		st = standings[0]
	}
	if subject != nil {
		subject.Deserted, subject.RoomDeleted, subject.Frozen = room.Kind == chat.Direct && room.Members < 2, room.Deleted, room.Frozen
	}
	return room, st, subject, nil
}

func scanSubject(rs pgx.Rows) (*chat.Subject, error) {
	if !rs.Next() {
		return nil, rs.Err()
	}
	var s chat.Subject
	var fold tables.StoredFold
	if err := rs.Scan(append(tables.EntryInto(&s.Entry), &fold, &s.Reacted)...); err != nil {
		return nil, err
	}
	var err error
	s.Fold, err = fold.Fold()
	return &s, err
}

// queueAmendment makes the batch write the new state of the amended text or packet, which was sent at the time at.
func queueAmendment(b *pgx.Batch, a chat.Amendment, to chat.AmendmentRuling, at time.Time) error {
	fold, err := chat.Body(to.Fold)
	if err != nil {
		return err
	}
	b.Queue(`update entries set fold = $3 where room_id = $1 /*! and bucket = bucket_of($1) */ and seq = $2`, a.Room, a.Target, string(fold))
	switch {
	case to.Empty:
		queueErase(b, a.Room, a.Target)
		if len(to.Mentioned) > 0 {
			b.Queue(`delete from mentions where user_id = any($1) /*! and bucket = any(buckets_of($1::text[])) */ and at = $2 and room_id = $3 and seq = $4`, to.Mentioned, at.UnixMilli(), a.Room, a.Target)
		}
	case a.Kind == chat.KindReact && a.On:
		b.Queue(`insert into reactions (/*! bucket, */ room_id, seq, emoji, user_id) values (/*! bucket_of($1), */ $1, $2, $3, $4)`, a.Room, a.Target, a.Emoji, a.By.ID)
	case a.Kind == chat.KindReact:
		b.Queue(`delete from reactions where room_id = $1 /*! and bucket = bucket_of($1) */ and seq = $2 and emoji = $3 and user_id = $4`, a.Room, a.Target, a.Emoji, a.By.ID)
	}
	return nil
}

// sealed does on Citus what the trigger seal_erased_body does on one Postgres.
const sealed = `/*! , text_seal = erased_seal(text_seal, body, $3) */`

// queueErase makes the batch remove the content of a text: its body, the bodies of its edits, and its reactions. The trigger
// seal_erased_body replaces the seals, on Citus the statement itself (sealed).
func queueErase(b *pgx.Batch, room string, seq int64) {
	b.Queue(`update entries set body = $3 `+sealed+` where room_id = $1 /*! and bucket = bucket_of($1) */ and seq = $2`, room, seq, string(chat.EmptyText))
	b.Queue(`update entries set body = $3 `+sealed+` where room_id = $1 /*! and bucket = bucket_of($1) */ and target = $2 and kind = 'edit'`, room, seq, string(chat.EmptyEdit(seq)))
	b.Queue(`delete from reactions where room_id = $1 /*! and bucket = bucket_of($1) */ and seq = $2`, room, seq)
}
