package sqlitestore

import (
	"strings"
	"testing"

	"hongbao/chat"
	"hongbao/store/tables"
)

// TestQueriesUseIndexes checks the plans of queries: they must not read all packets, all deleted rooms, or all files of a room.
func TestQueriesUseIndexes(t *testing.T) {
	s := openStore(t, t.TempDir())
	before := int64(9)
	pictures, ofRoom := tables.SeqsWithFiles(chat.Page{Before: &before, Files: chat.PictureFile, Limit: 50}, "room")
	for name, of := range map[string]struct {
		query   string
		args    []any
		indexes []string
	}{
		"rooms":   {tables.DeletedRoomsQuery(dialect{}), []any{"", 10}, []string{"rooms_deleted", "packets_room", "members_list"}},
		"packets": {tables.OpenInDeletedQuery, []any{"room", "", 10}, []string{"packets_room"}},
		"rains":   {tables.OpenRainsQuery(dialect{}), []any{0, "", 10, 60_000}, []string{"packets_rain (<expr>>? AND <expr><?)"}},
		"sender":  {openOfSender, []any{"sender"}, []string{"packets_open_sender"}},
		"files":   {pictures, ofRoom, []string{"files_shown (room_id=? AND kind=? AND seq>? AND seq<?)"}},
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
