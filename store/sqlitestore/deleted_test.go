package sqlitestore

import (
	"strings"
	"testing"

	"hongbao/store/tables"
)

// TestPacketQueriesUseIndexes checks the plans of queries for open packets: they must not read all packets or all deleted rooms.
func TestPacketQueriesUseIndexes(t *testing.T) {
	s := openStore(t, t.TempDir())
	for name, of := range map[string]struct {
		query   string
		args    []any
		indexes []string
	}{
		"rooms":   {tables.DeletedRoomsQuery(dialect{}), []any{"", 10}, []string{"rooms_deleted", "packets_room", "members_list"}},
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
