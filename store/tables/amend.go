package tables

import (
	"context"
	"time"

	"hongbao/chat"
)

// Amend implements chat.Store.
func (t Tables) Amend(ctx context.Context, a chat.Amendment) (chat.Amended, error) {
	return write(ctx, t.db, "amend entry", func(w Tx, before chat.Amended) (chat.Amended, error) { return amend(w, a, before) })
}

func amend(w Tx, a chat.Amendment, before chat.Amended) (chat.Amended, error) {
	room, st, subject, err := lockSubject(w, a)
	if err != nil {
		return chat.Amended{}, err
	}
	if before.Changed {
		if mine, err := committedBefore(w, before.Entry); err != nil || mine {
			return before, err
		}
	}
	to, err := a.Apply(st, subject, room.LastSeq+1)
	if err != nil || !to.Changed {
		return chat.Amended{Seq: to.Seq}, err
	}
	note, err := recordAmendment(w, &room, a, subject, to)
	return chat.Amended{Changed: true, Seq: note.Seq, Entry: note}, err
}

// recordAmendment writes what the amendment changes, and returns the entry that records it. The room must be locked.
func recordAmendment(w Tx, room *chat.Room, a chat.Amendment, s *chat.Subject, to chat.AmendmentRuling) (chat.Entry, error) {
	notes := []chat.Entry{{ID: a.ID, At: a.At, From: a.By, Kind: a.Kind, Body: to.Body}}
	var b Batch
	if err := queueNotes(w, &b, room, notes, a.Target); err != nil {
		return chat.Entry{}, err
	}
	queueUpdateRoom(&b, *room, a.At)
	if err := queueAmendment(w, &b, a, to, s.Entry.At); err != nil {
		return chat.Entry{}, err
	}
	if a.Kind != chat.KindReact {
		if err := reindexAmended(w, &b, *s, to.Fold); err != nil {
			return chat.Entry{}, err
		}
	}
	if to.HasFiles {
		queueDropOfEntry(&b, a.Room, a.Target, a.At)
	}
	if to.Empty {
		if err := w.Erase(a.Room, a.Target); err != nil {
			return chat.Entry{}, err
		}
	}
	return notes[0], w.Send(&b)
}

// reindexAmended makes the batch replace the words by which the amended text is found.
func reindexAmended(w Tx, b *Batch, s chat.Subject, to chat.Fold) error {
	old, err := s.Entry.Folded(s.Fold)
	if err != nil {
		return err
	}
	changed, err := s.Entry.Folded(to)
	if err != nil {
		return err
	}
	return reindex(w, b, old, changed)
}

// lockSubject locks the room and the membership of the user that amends (a.By). It reads the entry to amend, the
// subject, which is nil if there is no such entry. The entry needs no lock, because entries are amended only under the
// room's lock. lockSubject returns chat.ErrNotFound if there never was such a room.
func lockSubject(w Tx, a chat.Amendment) (room chat.Room, st chat.Standing, subject *chat.Subject, err error) {
	var (
		b         Batch
		standings = map[string]chat.Standing{}
		found     *chat.Room
	)
	queueStandings(w, &b, standings, a.Room, []string{a.By.ID}, w.Lock())
	queueRoom(&b, a.Room, w.Lock(), &found)
	b.Each(func(row Row) (err error) {
		subject, err = scanSubject(row)
		return err
	}, `select `+EntryColumns+`, fold, exists (
			select 1 from reactions where room_id = $1 /*! and bucket = bucket_of($1) */ and seq = $2 and emoji = $3 and user_id = $4)
		from entries where room_id = $1 /*! and bucket = bucket_of($1) */ and seq = $2`, a.Room, a.Target, a.Emoji, a.By.ID)
	if err := w.Send(&b); err != nil {
		return chat.Room{}, chat.Standing{}, nil, err
	}
	if found == nil {
		return chat.Room{}, chat.Standing{}, nil, chat.ErrNotFound
	}
	room = *found
	st, ever := standings[a.By.ID]
	if !ever {
		st.Visible = room.Kind == chat.Public && !room.Deleted
	}
	st.RoomDeleted = room.Deleted // under the room's lock; the standing is older
	if subject != nil {
		subject.Deserted, subject.RoomDeleted, subject.Frozen = room.Kind == chat.Direct && room.Members < 2, room.Deleted, room.Frozen
	}
	return room, st, subject, nil
}

func scanSubject(row Row) (*chat.Subject, error) {
	var s chat.Subject
	var fold storedFold
	if err := row.Scan(append(EntryInto(&s.Entry), &fold, &s.Reacted)...); err != nil {
		return nil, err
	}
	var err error
	s.Fold, err = fold.Fold()
	return &s, err
}

// queueAmendment makes the batch write the new state of the amended text or packet, which was sent at the time at.
func queueAmendment(d Dialect, b *Batch, a chat.Amendment, to chat.AmendmentRuling, at time.Time) error {
	fold, err := chat.Body(to.Fold)
	if err != nil {
		return err
	}
	b.Exec(`update entries set fold = $3 where room_id = $1 /*! and bucket = bucket_of($1) */ and seq = $2`, a.Room, a.Target, string(fold))
	switch {
	case to.Empty:
		queueForgetMentions(d, b, a, to, at)
	case a.Kind == chat.KindReact && a.On:
		b.Exec(`insert into reactions (/*! bucket, */ room_id, seq, emoji, user_id) values (/*! bucket_of($1), */ $1, $2, $3, $4)`, a.Room, a.Target, a.Emoji, a.By.ID)
	case a.Kind == chat.KindReact:
		b.Exec(`delete from reactions where room_id = $1 /*! and bucket = bucket_of($1) */ and seq = $2 and emoji = $3 and user_id = $4`, a.Room, a.Target, a.Emoji, a.By.ID)
	}
	return nil
}

// queueForgetMentions makes the batch delete the mentions in an emptied text, which was sent at the time at.
func queueForgetMentions(d Dialect, b *Batch, a chat.Amendment, to chat.AmendmentRuling, at time.Time) {
	if len(to.Mentioned) > 0 {
		b.Exec(`delete from mentions where user_id `+d.In(1)+` /*! and bucket = any(buckets_of($1::text[])) */ and at = $2 and room_id = $3 and seq = $4`, d.List(to.Mentioned), at.UnixMilli(), a.Room, a.Target)
	}
	if to.MentionedAll {
		b.Exec(`delete from mentions_of_all where room_id = $1 and at = $2 and seq = $3`, a.Room, at.UnixMilli(), a.Target)
	}
}
