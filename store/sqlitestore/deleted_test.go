package sqlitestore

import (
	"slices"
	"strings"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/tables"
)

// TestRoomsDeletedBeforeTheUpgrade deletes a room under an older schema. After the migration the room must be listed.
func TestRoomsDeletedBeforeTheUpgrade(t *testing.T) {
	dir := t.TempDir()
	s := openLedger(t, dir)
	p := hotPackets(t, s, 1, 3)[0]
	_, err := s.Change(t.Context(), chat.Change{Kind: chat.DeleteRoom, Room: p.Room, By: p.From, At: time.Now()})
	noError(t, err)
	if err := s.do(t.Context(), func(w *writer) error { // the schema of the older version
		for _, statement := range []string{`drop index rooms_deleted`, `drop index packets_room`, `alter table rooms drop column packets_closed`,
			`delete from schema_migrations where name like '%deleted_rooms%'`} {
			if _, err := w.Exec(statement); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	noError(t, s.Close())
	again := openLedger(t, dir)
	rooms, _, err := again.DeletedRooms(t.Context(), "", 10)
	if err != nil || !slices.Equal(rooms, []string{p.Room}) {
		t.Errorf("deleted rooms %v, %v", rooms, err)
	}
	open, err := again.OpenInDeleted(t.Context(), p.Room, "", 10)
	if err != nil || !slices.Equal(open, []redpacket.Ref{p.Ref}) {
		t.Errorf("open packets %v, %v", open, err)
	}
}

// TestPacketQueriesUseIndexes checks the plans of queries for open packets: they must not read all packets or all deleted rooms.
func TestPacketQueriesUseIndexes(t *testing.T) {
	s := openLedger(t, t.TempDir())
	for name, of := range map[string]struct {
		query   string
		args    []any
		indexes []string
	}{
		"rooms":   {tables.DeletedRoomsQuery(dialect{}), []any{"", 10}, []string{"rooms_deleted", "packets_room"}},
		"packets": {tables.OpenInDeletedQuery, []any{"room", "", 10}, []string{"packets_room"}},
		"sender":  {openOfSender, []any{"sender"}, []string{"packets_open_sender"}},
	} {
		plan, err := tables.List(s.reader(t.Context()), func(rs tables.Row) (step string, err error) {
			err = rs.Scan(new(int), new(int), new(int), &step)
			return step, err
		}, `explain query plan `+of.query, of.args...)
		noError(t, err)
		text := strings.Join(plan, "\n")
		for _, index := range of.indexes {
			if !strings.Contains(text, index) {
				t.Errorf("%s: no %s in\n%s", name, index, text)
			}
		}
		if strings.Contains(text, "TEMP B-TREE") || strings.Contains(text, "SCAN p") {
			t.Errorf("%s are read as a whole or sorted:\n%s", name, text)
		}
	}
}
