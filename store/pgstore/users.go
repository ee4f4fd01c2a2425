package pgstore

import (
	"hongbao/store/tables"
)

// lockUsers locks those of the users that exist, and returns them. A user is locked before entering a room, by joining or by
// being added, so that the limit of the user's rooms can be checked.
func (w *writer) lockUsers(ids []string) (known map[string]bool, err error) {
	locked, err := tables.List(w, tables.ScanText, `select id from users where id = any($1) order by id for update`, ids)
	known = make(map[string]bool, len(locked))
	for _, id := range locked {
		known[id] = true
	}
	return known, err
}
