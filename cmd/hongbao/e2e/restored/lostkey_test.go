package restored

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // what an operator does with the program sqlite3

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/enginetest"
)

// TestLostDataKey starts without the data key, as web/docs/runbooks.md says: everything works again but the packets that were open.
func TestLostDataKey(t *testing.T) {
	enginetest.Nightly(t, "whole")
	binary := e2e.Build(t, "")
	s := e2e.Start(t, binary, t.TempDir(), e2e.FreeAddress(t), "HONGBAO_GUESTS=local")
	r := openRoom(t, s)
	r.before()
	s.Stop()
	e2e.NoError(t, os.Remove(filepath.Join(s.Dir, "data.key")))
	if _, err := s.TryRestart(); err == nil || !strings.Contains(err.Error(), "data.key") {
		t.Fatalf("a start without the key: %v, want an error that names the file", err)
	}

	db, err := sql.Open("sqlite", filepath.Join(s.Dir, "hongbao.db"))
	e2e.NoError(t, err)
	_, err = db.ExecContext(t.Context(), `delete from settings where name = 'data_keys'`)
	e2e.NoError(t, err)
	e2e.NoError(t, db.Close())
	run(t, nil, binary, "restored", "--data-dir", s.Dir)
	s = s.Restart()
	r.awaitRenumbering()
	r.say(3)
	r.grab(r.clients[1], r.send("next", 2, 3600))
	if open := s.Audit().OpenPackets; open != 2 {
		t.Errorf("%d packets are open, want the new one and the one whose key is lost", open)
	}
	s.MustBalance()
}
