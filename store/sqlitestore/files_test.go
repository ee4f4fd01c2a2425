package sqlitestore

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/store/enginetest"
)

// TestLostFilesAreRefused deletes or replaces a file of an open database. The store must acknowledge nothing more, and name the file.
func TestLostFilesAreRefused(t *testing.T) {
	for name, file := range map[string]string{"database": FileName, "write-ahead log": FileName + "-wal"} {
		for _, replaced := range []bool{false, true} {
			dir := migratedFolder(t)
			s := openStore(t, dir)
			createTestRoom(t, s)
			path := filepath.Join(dir, file)
			data, err := os.ReadFile(path)
			if err == nil {
				err = os.Rename(path, path+".gone") // the inode stays in use, so the new file gets another one
			}
			if err == nil && replaced {
				err = os.WriteFile(path, data, 0o600)
			}
			noError(t, err)
			for n := range 2 {
				if _, _, err := s.Append(t.Context(), text(n)); !errors.Is(err, chat.ErrUnavailable) || !strings.Contains(err.Error(), path+" was deleted or replaced") {
					t.Errorf("%s, replaced %v, write %d: %v, want an error that names the file", name, replaced, n, err)
				}
			}
			if err := s.OutOfReach(); !errors.Is(err, chat.ErrUnavailable) {
				t.Errorf("%s, replaced %v: out of reach: %v", name, replaced, err)
			}
		}
	}
}

// TestForeignLockIsAnsweredInTime lets another process hold the write lock of the database. Each write must be refused within 5 s, must not
// be done later, and must succeed once the lock is free.
func TestForeignLockIsAnsweredInTime(t *testing.T) {
	enginetest.Nightly(t, "waits")
	dir := migratedFolder(t)
	s := openStore(t, dir)
	createTestRoom(t, s)
	foreign, err := sql.Open("sqlite", filepath.Join(dir, FileName))
	noError(t, err)
	defer func() { _ = foreign.Close() }()
	foreign.SetMaxOpenConns(1)
	run := func(statement string) {
		t.Helper()
		if _, err := foreign.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	run("begin immediate")
	errs := make(chan error)
	for n := range 8 {
		go func() {
			time.Sleep(time.Duration(n) * 700 * time.Millisecond) // sleeps: so that calls come while others wait
			began := time.Now()
			_, _, err := s.Append(t.Context(), text(n))
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("write %d was answered after %v", n, took)
			}
			errs <- err
		}()
	}
	for range 8 {
		if err := <-errs; !errors.Is(err, chat.ErrUnavailable) {
			t.Errorf("a write while the database is locked: %v, want unavailable", err)
		}
	}
	run("rollback")
	for n := range 8 {
		for until := time.Now().Add(30 * time.Second); ; {
			_, dup, err := s.Append(t.Context(), text(n))
			if err == nil {
				if dup {
					t.Errorf("write %d was refused, and done later", n)
				}
				break
			}
			if time.Now().After(until) {
				t.Fatal(err)
			}
		}
	}
}

// TestJobThatNeverBeginsIsGivenUp gives a job up before the committer takes it. It must not run.
func TestJobThatNeverBeginsIsGivenUp(t *testing.T) {
	s := storeWithRoom(t)
	j := &job{run: func(*writer) error { t.Error("the job was run"); return nil }, done: make(chan struct{})}
	late := time.NewTimer(0)
	if err := s.answer(j, late); !errors.Is(err, chat.ErrUnavailable) || !errors.Is(err, errNotBegun) {
		t.Errorf("%v, want the job given up", err)
	}
	s.jobs <- j
	<-j.done
	j = &job{run: func(*writer) error { return nil }, done: make(chan struct{})}
	j.taken.Store(true) // it runs already
	go func() { close(j.done) }()
	if err := s.answer(j, late); err != nil {
		t.Errorf("a job that runs: %v, want its answer", err)
	}
}
