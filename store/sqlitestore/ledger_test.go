package sqlitestore

import (
	"context"
	"log/slog"
	"testing"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/storetest"
)

func TestLedger(t *testing.T) {
	storetest.TestLedger(t, func(t *testing.T) (redpacket.Ledger, chat.Store) {
		t.Parallel()
		_, s := openMeasured(t)
		return s, s
	})
}

var quiet = slog.New(slog.DiscardHandler)

// migrated is a migrated database without rows.
var migrated = storetest.NewFileTemplate(FileName, func(dir string) error {
	s, err := Open(context.Background(), dir, quiet)
	if err != nil {
		return err
	}
	return s.Close()
})

// migratedFolder returns the folder of a new database without rows.
func migratedFolder(t testing.TB) string {
	t.Helper()
	return migrated.Copy(t)
}
