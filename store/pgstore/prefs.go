package pgstore

import (
	"context"

	"hongbao/chat"
)

// SetPrefs implements chat.Store.
func (s *Store) SetPrefs(ctx context.Context, c chat.PrefsChange) (p chat.Prefs, err error) {
	err = s.tx(ctx, func(w *writer) error {
		p, err = w.setPrefs(c)
		return err
	})
	if err != nil {
		return chat.Prefs{}, outcome("set room preferences", err)
	}
	return p, nil
}

func (w *writer) setPrefs(c chat.PrefsChange) (chat.Prefs, error) {
	st, err := readStanding(w, c.Room, c.User)
	if err != nil {
		return chat.Prefs{}, err
	}
	if err := st.At(c.At).MayRead(); err != nil {
		return chat.Prefs{}, err
	}
	if _, err := w.exec(`update members m set silent = coalesce($1, m.silent), pinned = coalesce($2, m.pinned),
		archived_no = case when $3 then r.content_no when not $3 or m.archived_no < r.content_no and not m.silent then -1 else m.archived_no end
		from rooms r where r.id = m.room_id and m.room_id = $4 and m.user_id = $5`, c.Silent, c.Pinned, c.Archived, c.Room, c.User); err != nil {
		return chat.Prefs{}, err
	}
	m, err := readMembership(w, c.Room, c.User)
	return m.Prefs, err
}
