package restored

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/enginetest"
	"hongbao/store/loopback"
	"hongbao/store/storetest"
)

// TestRestoredPointInTime restores a base backup and the archived WAL up to a point in time, as web/docs/runbooks.md says, while servers
// run. The settings are those of that page.
func TestRestoredPointInTime(t *testing.T) {
	enginetest.Nightly(t, "whole")
	postgres := storetest.Postgres(t)
	database, err := postgres.NewDatabase(t.Context())
	e2e.NoError(t, err)
	psql := postgresProgram(t, "psql")
	ask := func(query string) string {
		t.Helper()
		return strings.TrimSpace(run(t, nil, psql, postgres.URL("postgres"), "-Atc", query))
	}
	archive := filepath.Join(filepath.Dir(ask("show data_directory")), "archive")
	ask("alter system set archive_mode = on")
	ask(fmt.Sprintf("alter system set archive_command = 'mkdir -p %[1]s && test ! -f %[1]s/%%f && cp %%p %[1]s/%%f'", archive))
	e2e.NoError(t, postgres.Restart(t.Context()))

	front := e2e.StartBalancer(t) // the address of Postgres, which stays the same
	front.OnlyTo(postgres.Addr())
	u, err := url.Parse(database)
	e2e.NoError(t, err)
	u.Host = front.Addr()
	cluster := e2e.StartCluster(t, e2e.Build(t, ""), storetest.Redis(t), u.String(), nil, nil)
	r := openRoom(t, cluster.Servers...)
	base := t.TempDir()
	e2e.NoError(t, postgres.Backup(t.Context(), base))
	lost := r.before()
	target := ask("select clock_timestamp()")
	r.after(lost)
	last := ask("select pg_walfile_name(pg_switch_wal())")
	e2e.Eventually(t, 30*time.Second, "the WAL is archived", func() bool {
		return ask(fmt.Sprintf("select coalesce(last_archived_wal >= '%s', false) from pg_stat_archiver", last)) == "t"
	})
	postgres.Kill()

	data := filepath.Join(base, "data")
	conf, err := os.OpenFile(filepath.Join(data, "postgresql.auto.conf"), os.O_APPEND|os.O_WRONLY, 0)
	e2e.NoError(t, err)
	_, err = fmt.Fprintf(conf, "restore_command = 'cp %s/%%f %%p'\nrecovery_target_time = '%s'\nrecovery_target_action = 'promote'\n", archive, target)
	e2e.NoError(t, err)
	e2e.NoError(t, conf.Close())
	e2e.NoError(t, os.WriteFile(filepath.Join(data, "recovery.signal"), nil, 0o644))
	restored, err := loopback.StartPostgres(t.Context(), base)
	e2e.NoError(t, err)
	t.Cleanup(restored.Stop)
	front.OnlyTo(restored.Addr())

	r.awaitRenumbering()
	r.say(9)
	r.mustNotReuse(lost)
	r.mustRefund(lost.open, lost.first, lost.second)
	r.mustAgree()
	awaitQuarantine(t, cluster.Front())
	mustHaveEpochs(t, cluster, 1)
	cluster.Front().MustBalance()
}
