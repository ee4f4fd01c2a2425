package tables

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"hongbao/chat"
)

// RoomRules implements chat.Store.
func (t Tables) RoomRules(ctx context.Context, room string) (rules []byte, err error) {
	if !t.db.Storable(room) {
		return nil, nil
	}
	return read(ctx, t.db, "read rules", func(q Querier) (rules []byte, err error) {
		var text string
		found, err := q.Row(`select rules from room_rules where room_id = $1`, []any{room}, &text)
		if err != nil || !found {
			return nil, err
		}
		return []byte(text), nil
	})
}

// SetRoomRules implements chat.Store.
func (t Tables) SetRoomRules(ctx context.Context, room string, rules []byte) error {
	if rules == nil {
		return exec(ctx, t.db, "drop rules", `delete from room_rules where room_id = $1`, room)
	}
	return exec(ctx, t.db, "store rules", `insert into room_rules (room_id, rules) values ($1, $2)
		on conflict (room_id) do update set rules = excluded.rules`, room, string(rules))
}

// JoinedAt implements chat.Store.
func (t Tables) JoinedAt(ctx context.Context, room, user string) (time.Time, error) {
	return read(ctx, t.db, "read when a user joined", func(q Querier) (at time.Time, err error) {
		_, err = q.Row(`select joined_at from members where room_id = $1 and user_id = $2 and state = 'in'`, []any{room, user}, Time(&at))
		return at, err
	})
}

// HoldText implements chat.Store.
func (t Tables) HoldText(ctx context.Context, h chat.HeldText, most, mostOfUser int, dropped time.Time) error {
	message, err := json.Marshal(h.Message)
	if err != nil {
		return err
	}
	return Outcome("hold text", t.db.Write(ctx, func(w Tx) error {
		if room, err := LockRoom(w, h.Room); err != nil || room.Deleted { // locked, so that the counts below are exact
			return cmp.Or(err, chat.ErrNotFound)
		}
		if _, err := w.Exec(`delete from held_texts where room_id = $1 and at < $2`, h.Room, dropped.UnixMilli()); err != nil {
			return err
		}
		var all, own, same int
		_, err := w.Row(`select count(*), count(*) filter (where user_id = $2), count(*) filter (where user_id = $2 and key = $3) from held_texts where room_id = $1`,
			[]any{h.Room, h.From.ID, h.Message.Key}, &all, &own, &same)
		switch {
		case err != nil || same > 0:
			return err
		case all >= most || own >= mostOfUser:
			return chat.ErrLimitExceeded
		}
		_, err = w.Exec(`insert into held_texts (room_id, id, user_id, name, avatar, at, rule, key, message) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
			h.Room, h.ID, h.From.ID, h.From.Name, h.From.Avatar, h.At.UnixMilli(), h.Rule, h.Message.Key, string(message))
		return err
	}))
}

const heldColumns = `room_id, id, user_id, name, avatar, at, rule, message`

func scanHeld(row Row) (h chat.HeldText, err error) {
	var message string
	if err := row.Scan(&h.Room, &h.ID, &h.From.ID, &h.From.Name, &h.From.Avatar, Time(&h.At), &h.Rule, &message); err != nil {
		return h, err
	}
	if err := json.Unmarshal([]byte(message), &h.Message); err != nil {
		return h, fmt.Errorf("parse held text %s: %w", h.ID, err)
	}
	return h, nil
}

// HeldTexts implements chat.Store.
func (t Tables) HeldTexts(ctx context.Context, room string, since time.Time, limit int) ([]chat.HeldText, error) {
	return list(ctx, t.db, "list held texts", scanHeld, `select `+heldColumns+` from held_texts where room_id = $1 and at >= $2 order by id limit $3`, room, since.UnixMilli(), limit)
}

// AdmitHeld implements chat.Store.
func (t Tables) AdmitHeld(ctx context.Context, room, id string) (h chat.HeldText, err error) {
	if !t.db.Storable(id) {
		return h, chat.ErrNotFound
	}
	return write(ctx, t.db, "admit text", func(w Tx, _ chat.HeldText) (chat.HeldText, error) {
		return one(w, scanHeld, `update held_texts set admitted = true where room_id = $1 and id = $2 returning `+heldColumns, room, id)
	})
}

// DropHeld implements chat.Store.
func (t Tables) DropHeld(ctx context.Context, room, id string, admitted bool) (dropped bool, err error) {
	if !t.db.Storable(id) {
		return false, nil
	}
	return write(ctx, t.db, "drop held text", func(w Tx, before bool) (bool, error) {
		n, err := w.Exec(`delete from held_texts where room_id = $1 and id = $2 and `+w.Is("admitted", admitted), room, id)
		return n > 0 || before, err
	})
}
