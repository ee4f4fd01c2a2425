package sqlitestore

import (
	"context"

	"hongbao/chat"
)

// SetPrefs implements chat.Store.
func (s *Store) SetPrefs(ctx context.Context, c chat.PrefsChange) (p chat.Prefs, err error) {
	err = s.do(ctx, func(w *writer) error {
		p, err = w.setPrefs(c)
		return err
	})
	if err != nil {
		return chat.Prefs{}, outcome("set room preferences", err)
	}
	return p, nil
}

func (w *writer) setPrefs(c chat.PrefsChange) (chat.Prefs, error) {
	st, err := w.standing(c.Room, c.User)
	if err != nil {
		return chat.Prefs{}, err
	}
	if err := st.At(c.At).MayRead(); err != nil {
		return chat.Prefs{}, err
	}
	if _, err := w.exec(`update members set silent = coalesce(?1, silent), pinned = coalesce(?2, pinned),
		archived_no = case when ?3 then content_no when not ?3 or archived_no < content_no and not silent then -1 else archived_no end
		from rooms where rooms.id = room_id and room_id = ?4 and user_id = ?5`, c.Silent, c.Pinned, c.Archived, c.Room, c.User); err != nil {
		return chat.Prefs{}, err
	}
	m, err := readMembership(w, c.Room, c.User)
	return m.Prefs, err
}
