package restored

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/enginetest"
)

// TestRestoredFile copies the database's files back to an earlier state, as an operator does, and runs `hongbao restored`.
func TestRestoredFile(t *testing.T) {
	enginetest.Nightly(t, "whole")
	binary := e2e.Build(t, "")
	s := e2e.Start(t, binary, t.TempDir(), e2e.FreeAddress(t), "HONGBAO_GUESTS=local")
	r := openRoom(t, s)
	lost := r.before()
	r.last()
	s.Stop()
	backup := t.TempDir()
	copyFiles(t, backup, s.Dir)

	s = s.Restart()
	r.after(lost)
	s.Stop()
	e2e.NoError(t, os.RemoveAll(s.Dir))
	copyFiles(t, s.Dir, backup)
	printed := run(t, nil, binary, "restored", "--data-dir", s.Dir)
	if !strings.Contains(printed, "a new epoch has begun") || !strings.Contains(printed, "open packets that servers will end early: 1") {
		t.Errorf("hongbao restored printed:\n%s", printed)
	}

	s = s.Restart()
	r.awaitRenumbering()
	r.say(9) // more than was lost: without a new epoch, clients would recover some of these
	r.mustNotReuse(lost)
	r.mustRefund(lost.open, lost.first) // the second payment was lost together with the memory of the process
	r.mustAgree()
	s.MustBalance()
}

// TestRestoredBesideAServer runs `hongbao restored` while a server uses the database. Its sockets are closed, and clients load
// their rooms again.
func TestRestoredBesideAServer(t *testing.T) {
	enginetest.Nightly(t, "whole")
	binary := e2e.Build(t, "")
	s := e2e.Start(t, binary, t.TempDir(), e2e.FreeAddress(t), "HONGBAO_GUESTS=local")
	r := openRoom(t, s)
	lost := r.before()
	run(t, nil, binary, "restored", "--data-dir", s.Dir)
	r.awaitRenumbering()
	r.say(3)
	r.mustRefund(lost.open, lost.first)
	r.mustAgree()
	if n := s.Metric("hongbao_epoch_changes_total"); n != 1 {
		t.Errorf("hongbao_epoch_changes_total is %v, want 1", n)
	}
	s.MustBalance()
}

// copyFiles copies the files of a folder. No process may write to them.
func copyFiles(t *testing.T, to, from string) {
	t.Helper()
	e2e.NoError(t, os.MkdirAll(to, 0o700))
	files, err := os.ReadDir(from)
	e2e.NoError(t, err)
	for _, f := range files {
		in, err := os.Open(filepath.Join(from, f.Name()))
		e2e.NoError(t, err)
		out, err := os.OpenFile(filepath.Join(to, f.Name()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		e2e.NoError(t, err)
		_, err = io.Copy(out, in)
		e2e.NoError(t, err)
		e2e.NoError(t, in.Close())
		e2e.NoError(t, out.Close())
	}
}
