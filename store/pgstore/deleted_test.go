package pgstore

import (
	"strings"
	"testing"

	"hongbao/chat"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/tables"
)

// TestQueriesUseIndexes checks the plans of queries: they must not scan all packets, all deleted rooms, or all files of a room.
func TestQueriesUseIndexes(t *testing.T) {
	t.Parallel()
	s := openStore(t, migratedDatabase(t))
	before := int64(9)
	pictures, ofRoom := tables.SeqsWithFiles(chat.Page{Before: &before, Files: chat.PictureFile, Limit: 50}, "room")
	for name, of := range map[string]struct {
		query   string
		args    []any
		indexes []string
	}{
		"rooms":   {tables.DeletedRoomsQuery(pg.Dialect{}), []any{"", 10}, []string{"rooms_deleted", "packets_room", "members_list"}},
		"packets": {tables.OpenInDeletedQuery, []any{"room", "", 10}, []string{"packets_room"}},
		"files":   {pictures, ofRoom, []string{"files_shown"}},
	} {
		var plan []string
		must(t, s.tx(t.Context(), func(w *writer) (err error) { // disables table scans, which Postgres prefers for small tables
			if _, err := w.Exec(`set local enable_seqscan = off`); err != nil {
				return err
			}
			if _, err := w.Exec(`set local enable_sort = off`); err != nil {
				return err
			}
			plan, err = tables.List(w, tables.ScanText, `explain `+of.query, of.args...)
			return err
		}))
		text := strings.Join(plan, "\n")
		for _, index := range of.indexes {
			if !strings.Contains(text, index) {
				t.Errorf("%s: index %s not used:\n%s", name, index, text)
			}
		}
		if strings.Contains(text, "Seq Scan") || strings.Contains(text, "Sort") {
			t.Errorf("%s: sequential scan or sort in the plan:\n%s", name, text)
		}
	}
}

// TestOpenPacketsOfASenderUseTheIndex explains the query that counts a user's open packets, beside many finished ones.
func TestOpenPacketsOfASenderUseTheIndex(t *testing.T) {
	t.Parallel()
	s := openStore(t, migratedDatabase(t))
	var plan []string
	must(t, s.tx(t.Context(), func(w *writer) (err error) {
		for _, statement := range []string{
			`insert into packets (id, partition, room_id, sender, sender_name, sender_avatar, mode, spread, total, count, shares, greeting,
				seed, commitment, key, seq, status, created_at, expires_at, closed_at, done_seq)
			select n, 0, 'room', 'sender', '', '', 'equal', '', 1, 1, '{1}', '', '', '', 'key', 1, 'expired', 1, 2, 3, 4 from generate_series(1, 5000) n`,
			`analyze packets`,
		} {
			if _, err := w.Exec(statement); err != nil {
				return err
			}
		}
		plan, err = tables.List(w, tables.ScanText, `explain `+openOfSender, "sender")
		return err
	}))
	if text := strings.Join(plan, "\n"); !strings.Contains(text, "packets_open_sender") {
		t.Errorf("the plan does not use packets_open_sender:\n%s", text)
	}
}

// TestLockedDeletedRoomIsMarkedLater locks one of several deleted rooms. The other rooms are marked at once, and the
// locked one later.
func TestLockedDeletedRoomIsMarkedLater(t *testing.T) {
	t.Parallel()
	all := instances(t, 2)
	s := all[0]
	must(t, s.tx(t.Context(), func(w *writer) error {
		_, err := w.Exec(`insert into rooms (id, name, kind, created_at, deleted_at) select 'r' || n, '', 'public', 0, 1 from generate_series(1, 3) n`)
		return err
	}))
	marked := func(want int) {
		t.Helper()
		if rooms, _, err := all[1].DeletedRooms(t.Context(), "", 10); err != nil || len(rooms) > 0 {
			t.Errorf("%v, %v", rooms, err)
		}
		await(t, all[1], `select count(*) = $1 from rooms where emptied`, want)
	}
	must(t, holdTx(t, s, func(w *writer) error {
		if _, err := w.Exec(`select from rooms where id = 'r2' for update`); err != nil {
			return err
		}
		marked(2)
		return nil
	}))
	marked(3)
}
