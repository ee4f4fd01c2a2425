package sqlitestore

import (
	"hongbao/chat"
)

// mention stores that the entry mentions the users. It skips users that are no members: they cannot see the entry.
func (w *writer) mention(e chat.Entry, users []string) error {
	for _, user := range users {
		if _, err := w.Exec(`insert into mentions (user_id, at, room_id, seq)
			select user_id, ?, room_id, ? from members where room_id = ? and user_id = ? and state = 'in'`, e.At.UnixMilli(), e.Seq, e.Room, user); err != nil {
			return err
		}
	}
	return nil
}

// unmention removes what mention has stored.
func (w *writer) unmention(e chat.Entry, users []string) error {
	for _, user := range users {
		if _, err := w.Exec(`delete from mentions where user_id = ? and at = ? and room_id = ? and seq = ?`, user, e.At.UnixMilli(), e.Room, e.Seq); err != nil {
			return err
		}
	}
	return nil
}
