package sqlitestore

import (
	"hongbao/chat"
)

// knownUser fails if there is no user with this id.
func (w *writer) knownUser(id string) error {
	found, err := w.Row(`select 1 from users where id = ?`, []any{id}, new(int))
	if err == nil && !found {
		return &chat.FieldError{Err: chat.ErrNotFound, Field: "members", Reason: "has a user whom nobody knows: " + id}
	}
	return err
}
