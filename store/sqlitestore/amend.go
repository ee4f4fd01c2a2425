package sqlitestore

import (
	"context"
	"encoding/json"

	"hongbao/chat"
	"hongbao/store/chain"
	"hongbao/store/tables"
)

// Amend implements chat.Store.
func (s *Store) Amend(ctx context.Context, a chat.Amendment) (done chat.Amended, err error) {
	err = s.do(ctx, func(w *writer) error {
		done, err = w.amend(a)
		return err
	})
	if err != nil {
		return chat.Amended{}, tables.Outcome("amend entry", err)
	}
	return done, nil
}

func (w *writer) amend(a chat.Amendment) (chat.Amended, error) {
	st, err := tables.ReadStanding(w, a.Room, a.By.ID)
	if err != nil {
		return chat.Amended{}, err
	}
	subject, err := w.subject(a)
	if err != nil {
		return chat.Amended{}, err
	}
	var (
		last     int64 // an unknown room needs no check: no user has a standing in it
		deserted bool
		deleted  bool
		frozen   bool
	)
	if _, err := w.Row(`select last_seq, `+tables.Deserted+`, deleted_at <> 0, frozen from rooms where id = ?`, []any{a.Room}, &last, &deserted, &deleted, &frozen); err != nil {
		return chat.Amended{}, err
	}
	if subject != nil {
		subject.Deserted, subject.RoomDeleted, subject.Frozen = deserted, deleted, frozen
	}
	will, err := a.Apply(st, subject, last+1)
	if err != nil || !will.Changed {
		return chat.Amended{Seq: will.Seq}, err
	}
	var b tables.Batch
	room, notes := chat.Room{ID: a.Room, LastSeq: last}, []chat.Entry{{ID: a.ID, At: a.At, From: a.By, Kind: a.Kind, Body: will.Body}}
	if err := tables.QueueNotes(w, &b, &room, notes, a.Target); err != nil {
		return chat.Amended{}, err
	}
	b.Exec(`update rooms set last_seq = $2 where id = $1`, room.ID, room.LastSeq)
	if err := w.Send(&b); err != nil {
		return chat.Amended{}, err
	}
	e := notes[0]
	if err := w.unmention(subject.Entry, will.Mentioned); err != nil {
		return chat.Amended{}, err
	}
	return chat.Amended{Changed: true, Seq: e.Seq, Entry: e}, w.fold(a, will)
}

// subject returns the entry that the amendment changes, or nil if there is none.
func (w *writer) subject(a chat.Amendment) (*chat.Subject, error) {
	found, err := tables.List(w, scanSubject, `select `+tables.EntryColumns+`, fold from entries where room_id = ? and seq = ?`, a.Room, a.Target)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	s := &found[0]
	if a.Kind == chat.KindReact {
		s.Reacted, err = w.Row(`select 1 from reactions where room_id = ? and seq = ? and emoji = ? and user_id = ?`,
			[]any{a.Room, a.Target, a.Emoji, a.By.ID}, new(int))
	}
	return s, err
}

// scanSubject scans tables.EntryColumns and fold.
func scanSubject(rs tables.Row) (s chat.Subject, err error) {
	var fold []byte
	if err := rs.Scan(append(tables.EntryInto(&s.Entry), &fold)...); err != nil || len(fold) == 0 {
		return s, err
	}
	return s, json.Unmarshal(fold, &s.Fold)
}

// fold stores the new state of the amended entry in the entry's column fold. It also adds or removes the reaction, or
// empties a recalled text.
func (w *writer) fold(a chat.Amendment, will chat.AmendmentRuling) error {
	fold, err := json.Marshal(will.Fold)
	if err != nil {
		return err
	}
	if _, err := w.Exec(`update entries set fold = ? where room_id = ? and seq = ?`, string(fold), a.Room, a.Target); err != nil {
		return err
	}
	if will.Empty {
		return w.empty(a.Room, a.Target)
	}
	if a.Kind != chat.KindReact {
		return nil
	}
	change := `delete from reactions where room_id = ? and seq = ? and emoji = ? and user_id = ?`
	if a.On {
		change = `insert into reactions (room_id, seq, emoji, user_id) values (?, ?, ?, ?)`
	}
	_, err = w.Exec(change, a.Room, a.Target, a.Emoji, a.By.ID)
	return err
}

// empty removes the content of a text from the database: its body, the bodies of its edits, and its reactions.
func (w *writer) empty(room string, seq int64) error {
	if err := w.erase(`room_id = ? and seq = ?`, string(chat.EmptyText), room, seq); err != nil {
		return err
	}
	if err := w.erase(`room_id = ? and target = ? and kind = 'edit'`, string(chat.EmptyEdit(seq)), room, seq); err != nil {
		return err
	}
	_, err := w.Exec(`delete from reactions where room_id = ? and seq = ?`, room, seq)
	w.emptied = true
	return err
}

// erase replaces the bodies of entries. If an entry has a seal, the seal becomes the hash that stands for the old body.
func (w *writer) erase(where, body, room string, seq int64) error {
	erased, err := tables.List(w, scanErased, `select seq, text_seal, body from entries where `+where, room, seq)
	if err != nil {
		return err
	}
	for _, e := range erased {
		if _, err := w.Exec(`update entries set body = ?, text_seal = ? where room_id = ? and seq = ?`, body, e.seal, room, e.seq); err != nil {
			return err
		}
	}
	return nil
}

// erasedEntry is an entry whose body is about to be erased, with its new seal.
type erasedEntry struct {
	seq  int64
	seal []byte
}

func scanErased(rs tables.Row) (e erasedEntry, err error) {
	var body string
	if err := rs.Scan(&e.seq, &e.seal, &body); err != nil || len(e.seal) == 0 { // an entry of an older version has no seal
		return e, err
	}
	hash := chain.Sealed(e.seal, body)
	e.seal = hash[:]
	return e, nil
}
