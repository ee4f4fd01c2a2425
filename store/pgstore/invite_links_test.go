package pgstore

import (
	"testing"

	"hongbao/store/tables"
)

// TestDeletedLinkIsNotInUse deletes a link while a transaction that lets a user in by it holds the room. DeleteLink must wait for
// the transaction: otherwise a user could enter after the creator of the link was told that nobody can.
func TestDeletedLinkIsNotInUse(t *testing.T) {
	t.Parallel()
	all := instances(t, 2)
	must(t, all[0].tx(t.Context(), func(w *writer) error {
		_, err := w.Exec(`insert into rooms (id, name, kind, created_at) values ('r', '', 'private', 0)`)
		return err
	}))
	deleted := make(chan error, 1)
	must(t, holdTx(t, all[0], func(w *writer) error {
		if _, err := tables.LockRoom(w, "r"); err != nil {
			return err
		}
		go func() { deleted <- all[1].DeleteLink(t.Context(), "r", "link", "") }()
		awaitBlocked(t, all[0])
		return nil
	}))
	must(t, <-deleted)
	must(t, all[1].DeleteLink(t.Context(), "no such room", "link", ""))
}
