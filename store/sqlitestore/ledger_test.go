package sqlitestore

import (
	"log/slog"
	"testing"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/storetest"
)

func TestLedger(t *testing.T) {
	storetest.TestLedger(t, func(t *testing.T) (redpacket.Ledger, chat.Store) {
		s := openLedger(t, t.TempDir())
		return s, s
	})
}

var quiet = slog.New(slog.DiscardHandler)

func openLedger(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(t.Context(), dir, quiet)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
