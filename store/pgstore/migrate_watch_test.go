package pgstore

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/pgstore/internal/schema"
	"hongbao/store/storetest"
)

// auditedDatabase returns a database with books, and its store.
func auditedDatabase(t *testing.T) (s *Store, url string) {
	t.Helper()
	url = migratedDatabase(t)
	s = openStore(t, url)
	storetest.Live(t, s, s)
	return s, url
}

// migrateWatched migrates the database to a next version. The lines of the log come from the channel.
func migrateWatched(t *testing.T, s *Store) (lines <-chan string, opened <-chan error) {
	t.Helper()
	log, done := make(lineWriter, 100), make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 30*time.Second)
		defer cancel()
		done <- migrateToNext(ctx, s, slog.New(slog.NewTextHandler(log, nil)))
	}()
	return log, done
}

// lineWriter sends each line that is written to it.
type lineWriter chan string

func (w lineWriter) Write(line []byte) (int, error) {
	w <- string(line)
	return len(line), nil
}

// pausingQuery returns a query of an audit that stops at the first packet, after its transaction has locked tables. It closes
// reached, and waits for release.
func pausingQuery(reached, release chan struct{}) *redpacket.AuditQuery {
	var once sync.Once
	return &redpacket.AuditQuery{Show: func(redpacket.AuditLine) {
		once.Do(func() { close(reached) })
		<-release
	}}
}

// TestBackgroundAuditGivesWayToMigration migrates while an audit in the background goes on. The migration must not wait for the
// audit, which fails.
func TestBackgroundAuditGivesWayToMigration(t *testing.T) {
	t.Parallel()
	s, _ := auditedDatabase(t)
	reached, release, audited := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := s.Audit(t.Context(), pausingQuery(reached, release))
		audited <- err
	}()
	<-reached
	_, opened := migrateWatched(t, s)
	if err := <-opened; err != nil {
		t.Errorf("migrate during an audit: %v", err)
	}
	close(release)
	if err := <-audited; !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("the audit that gave way: %v", err)
	}
	if a, err := s.Audit(t.Context(), nil); err != nil || len(a.Differences) > 0 {
		t.Errorf("the next audit: %+v, %v", a.Differences, err)
	}
}

// TestMigrationNamesTheAuditThatItWaitsFor migrates while the command audits. The log must name the command, which goes on, and
// the migration must be applied afterwards.
func TestMigrationNamesTheAuditThatItWaitsFor(t *testing.T) {
	t.Parallel()
	s, url := auditedDatabase(t)
	conn := connect(t, url)
	reached, release, audited := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		audited <- pg.LongSnapshot(t.Context(), conn, *citus, func(r pg.Reader) error {
			_, err := schema.Audit(r, schema.CommandAudit, pausingQuery(reached, release))
			return err
		})
	}()
	<-reached
	lines, opened := migrateWatched(t, s)
	for named := false; !named; {
		select {
		case line := <-lines:
			named = strings.Contains(line, "migration waits") && strings.Contains(line, schema.CommandAudit)
		case err := <-opened:
			close(release)
			t.Fatalf("the database opened without a line about the audit: %v", err)
		}
	}
	close(release)
	if err := <-audited; err != nil {
		t.Errorf("the audit of the command: %v", err)
	}
	if err := <-opened; err != nil {
		t.Error(err)
	}
}
