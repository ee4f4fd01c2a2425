package pgstore

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"math"
	"net"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"hongbao/chat"
	"hongbao/migrations"
	"hongbao/redpacket"
	"hongbao/store/enginetest"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/storetest"
	"hongbao/store/tables"
)

// hardTexts are texts with special characters. As arguments of a simple Query they must arrive unchanged.
var hardTexts = []string{
	"", "'", "''", `\`, `\'`, `"`, "`", "$1", "$$", "--", "/*", ";", "'; drop table users; --", "a\nb\r\tc", "恭喜發財 🧧", "NULL",
	"{}", "{a,b}", `{"a"}`, ",", " ", "\x01\x7f", "e'\\x00'", "\u2028", "\ufffd",
}

// TestArgumentsSurviveSimpleQuery sends arguments of all types as part of a simple Query's text, and reads them back.
func TestArgumentsSurviveSimpleQuery(t *testing.T) {
	t.Parallel()
	type mode string
	s := openStore(t, migratedDatabase(t))
	raw := []byte{0, 1, '\'', '\\', 255}
	must(t, s.tx(t.Context(), func(w *writer) error {
		for _, text := range hardTexts {
			var got, named string
			if _, err := w.Row(`select $1::text, $2::text`, []any{text, mode(text)}, &got, &named); err != nil || got != text || named != text {
				t.Errorf("%q was read back as %q and %q, %v", text, got, named, err)
			}
		}
		var (
			texts, none []string
			amounts     []redpacket.Money
			number      int64
			data, empty []byte
			many        [][]byte
			null        *string
			yes         bool
		)
		var b pgx.Batch
		b.Queue(`select $1::text[], $2::text[], $3::bigint[], $4::bigint, $5::bytea`,
			hardTexts, []string{}, []redpacket.Money{0, -1, math.MaxInt64, math.MinInt64}, redpacket.Money(math.MinInt64), raw).
			QueryRow(func(row pgx.Row) error { return row.Scan(&texts, &none, &amounts, &number, &data) })
		b.Queue(`select $1::bytea, $2::bytea[], $3::text, 1 - $4::int = 2 and $5::boolean`, []byte{}, [][]byte{raw, {}}, nil, -1, true).
			QueryRow(func(row pgx.Row) error { return row.Scan(&empty, &many, &null, &yes) })
		if err := w.SendBatch(&b); err != nil {
			return err
		}
		for _, test := range []struct{ got, want any }{
			{texts, hardTexts}, {none, []string{}}, {amounts, []redpacket.Money{0, -1, math.MaxInt64, math.MinInt64}},
			{number, int64(math.MinInt64)}, {data, raw}, {empty, []byte{}}, {many, [][]byte{raw, {}}}, {null, (*string)(nil)}, {yes, true},
		} {
			if !reflect.DeepEqual(test.got, test.want) {
				t.Errorf("read back %#v, want %#v", test.got, test.want)
			}
		}
		return nil
	}))
}

// TestZeroByteIsRefusedBeforeSending passes arguments with a zero byte. Each call must fail with the SQLSTATE that
// Postgres would return, and the connection must stay usable.
func TestZeroByteIsRefusedBeforeSending(t *testing.T) {
	t.Parallel()
	type mode string
	s := openStore(t, migratedDatabase(t))
	for _, arg := range []any{"zero\x00", []string{"", "\x00"}, mode("\x00"), new("\x00")} {
		must(t, s.tx(t.Context(), func(w *writer) error {
			_, exec := w.Exec(`select $1::text`, arg)
			_, row := w.Row(`select $1::text`, []any{arg}, new(string))
			_, query := w.Query(`select $1::text`, arg)
			var b pgx.Batch
			b.Queue(`select 1`)
			b.Queue(`select $1::text`, arg)
			for _, err := range []error{exec, row, query, w.SendBatch(&b)} {
				if pg.SQLState(err) != "22021" || !poisonous(err) || rowRefusal(err) == "" {
					t.Errorf("%T: %v", arg, err)
				}
			}
			return nil
		}))
	}
	for _, pid := range backends(t, s, 1) {
		await(t, s, `select $1::int in (select pid from pg_stat_activity)`, pid)
	}
	err := s.tx(t.Context(), func(w *writer) error { _, err := w.Exec(`select $1`, "\xff"); return err })
	if pg.SQLState(err) != "22021" {
		t.Errorf("invalid UTF-8: %v", err)
	}
}

// TestRaisedLockErrorIsNoLockTimeout raises the SQLSTATE of a lock timeout in a database function. Only a real lock
// timeout may count as one.
func TestRaisedLockErrorIsNoLockTimeout(t *testing.T) {
	t.Parallel()
	url := migratedDatabase(t)
	s, other := openStore(t, url), openStore(t, url)
	raised := s.withReader(t.Context(), func(r reader) error {
		return pg.Simple(r.Ctx, r.Conn, `do $$ begin raise lock_not_available; end $$`)
	})
	if pg.SQLState(raised) != "55P03" || pg.LockTimeout(raised) {
		t.Errorf("%v counts as a lock timeout", raised)
	}
	must(t, s.withLongSnapshot(t.Context(), func(r pg.Reader) error {
		must(t, pg.Simple(r.Ctx, r.Conn, `select pg_advisory_lock(7)`))
		err := other.withReader(t.Context(), func(r reader) error {
			return pg.Simple(r.Ctx, r.Conn, `begin; set local lock_timeout = 10; select pg_advisory_lock(7)`)
		})
		if !pg.LockTimeout(err) || errors.Is(err, errLost) || other.pool.Err() != nil {
			t.Errorf("%v, %v", err, other.pool.Err())
		}
		return pg.Simple(r.Ctx, r.Conn, `select pg_advisory_unlock(7)`)
	}))
}

// TestStartWaitsForASlowServer opens a store while the server is silent: a busy machine is no reason to give up.
func TestStartWaitsForASlowServer(t *testing.T) {
	enginetest.Nightly(t, "waits")
	t.Parallel()
	proxy, url := startProxy(t, migratedDatabase(t))
	proxy.Swallow(true)
	began := time.Now()
	time.AfterFunc(3*time.Second, func() { proxy.Swallow(false) }) // during the second try
	var opening sync.WaitGroup
	opening.Go(func() {
		a, err := OpenAuditor(t.Context(), url, discardLog)
		if err != nil {
			t.Error(err)
			return
		}
		_ = a.Close()
	})
	s := openStore(t, url)
	opening.Wait()
	if took := time.Since(began); took < 2*time.Second {
		t.Errorf("opened after %v, and the server was silent for 3 s", took)
	}
	proxy.Swallow(true) // from now on new connections are silent
	time.AfterFunc(3*time.Second, func() { proxy.Swallow(false) })
	if _, err := s.State(t.Context()); err != nil {
		t.Errorf("the state is read by a connection of its own: %v", err)
	}
}

// TestStartWaitsForAStartingServer opens a store and an auditor while the server answers that it is starting up.
func TestStartWaitsForAStartingServer(t *testing.T) {
	t.Parallel()
	u, err := url.Parse(migratedDatabase(t))
	must(t, err)
	front, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = front.Close() })
	server := u.Host
	refusals := int32(1)
	if enginetest.Tonight("waits") {
		refusals = 4 // the store waits for three probes
	}
	var refused atomic.Int32
	go func() {
		for {
			conn, err := front.Accept()
			if err != nil {
				return
			}
			if refused.Add(1) <= refusals {
				go refuseAsStarting(conn)
			} else {
				go forward(conn, server)
			}
		}
	}()
	u.Host = front.Addr().String()
	a, err := OpenAuditor(t.Context(), u.String(), discardLog)
	if err != nil {
		t.Fatalf("auditor: %v", err)
	}
	must(t, a.Close())
	for _, mode := range []migrations.Mode{migrations.Auto, migrations.Off} {
		refused.Store(0)
		s, err := OpenWith(t.Context(), u.String(), mode, discardLog)
		if err != nil {
			t.Fatalf("mode %s: %v", mode, err)
		}
		must(t, s.Close())
	}
}

// refuseAsStarting answers a startup message as a Postgres that is starting up.
func refuseAsStarting(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	if _, err := pgproto3.NewBackend(conn, conn).ReceiveStartupMessage(); err != nil {
		return
	}
	reply, _ := (&pgproto3.ErrorResponse{Severity: "FATAL", Code: "57P03", Message: "the database system is starting up"}).Encode(nil)
	_, _ = conn.Write(reply)
}

// forward copies bytes between a client and the server until one of them closes.
func forward(client net.Conn, addr string) {
	server, err := net.Dial("tcp", addr)
	if err != nil {
		_ = client.Close()
		return
	}
	go func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	}()
	_, _ = io.Copy(client, server)
	_ = client.Close()
}

// TestReadOnlyServerIsRefused makes the server read-only. Open, later calls and the probe must all refuse it.
func TestReadOnlyServerIsRefused(t *testing.T) {
	t.Parallel()
	url := migratedDatabase(t)
	s, other := openStore(t, url), openStore(t, url)
	admin, err := pgx.Connect(t.Context(), storetest.SharedPostgres(t).URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pg.CloseConn(admin) })
	database := pgx.Identifier{s.pool.ConnConfig().Database}.Sanitize()
	readOnly := func(on string) {
		t.Helper()
		_, err := admin.Exec(t.Context(), `alter database `+database+` set default_transaction_read_only = `+on)
		must(t, err)
	}
	readOnly("on")
	if refused, err := Open(t.Context(), url, discardLog); err == nil || !strings.Contains(err.Error(), "takes no writes") {
		if err == nil {
			_ = refused.Close()
		}
		t.Errorf("Open of a read-only server: %v", err)
	}
	must(t, other.withReader(t.Context(), func(r reader) error {
		_, err := r.Row(`select count(pg_terminate_backend(pid, 5000)) from pg_stat_activity
			where datname = current_database() and pid <> pg_backend_pid()`, nil, new(int))
		return err
	}))
	unavailableWithin(t, pg.Patience, "read", func() error { _, err := s.Room(t.Context(), room); return err })
	if enginetest.Tonight("waits") {
		time.Sleep(2 * time.Second) // sleeps: the time of two probes must pass
	}
	if err := s.pool.Err(); !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("breaker after a probe of a read-only server: %v, want unavailable", err)
	}
	readOnly("off")
	must(t, s.pool.Await(t.Context()))
	must(t, s.Ready(t.Context()))
}

// TestUnsafeDurabilityLogsWarning opens a store with Postgres's default settings, which causes no warning. With
// synchronous_commit off, Open must log a warning.
func TestUnsafeDurabilityLogsWarning(t *testing.T) {
	t.Parallel()
	url := migratedDatabase(t)
	opened := func() string {
		t.Helper()
		var log bytes.Buffer
		s, err := Open(t.Context(), url, slog.New(slog.NewTextHandler(&log, nil)))
		must(t, err)
		must(t, s.withReader(t.Context(), func(r reader) error {
			return pg.Simple(r.Ctx, r.Conn, `do $$ begin execute 'alter database ' || quote_ident(current_database()) || ' set synchronous_commit = off'; end $$`)
		}))
		must(t, s.Close())
		return log.String()
	}
	if logged := opened(); strings.Contains(logged, "WARN") {
		t.Errorf("warning for default settings: %s", logged)
	}
	if logged := opened(); !strings.Contains(logged, "synchronous_commit is off") {
		t.Errorf("no warning about synchronous_commit in: %s", logged)
	}
}

// TestKeepalivesOnlyOnDirectConnections checks that keepalives are set on a direct connection, and not through
// PgBouncer.
func TestKeepalivesOnlyOnDirectConnections(t *testing.T) {
	t.Parallel()
	url := migratedDatabase(t)
	setting := func(s *Store) (value string) {
		t.Helper()
		must(t, s.withReader(t.Context(), func(r reader) error {
			_, err := r.Row(`show tcp_user_timeout`, nil, &value)
			return err
		}))
		return value
	}
	direct, bounced := openStore(t, url), openStore(t, bouncer(t)(url))
	if got := setting(direct); got != "2000" {
		t.Errorf("direct: %s, want 2000", got)
	}
	if got := setting(bounced); got != "0" {
		t.Errorf("through PgBouncer: %s, want 0, because other clients use the session later", got)
	}
}

const muchText = `select repeat('x', 1000) from generate_series(1, 50000)`

// TestClientThatDoesNotReadIsDisconnected sends a query and never reads its large result. Postgres must end the
// session, which would otherwise hold its locks.
func TestClientThatDoesNotReadIsDisconnected(t *testing.T) {
	enginetest.Nightly(t, "waits")
	t.Parallel()
	url := migratedDatabase(t)
	s, other := openStore(t, url), openStore(t, url)
	pooled, err := s.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer pooled.Release()
	result := pooled.Conn().PgConn().Exec(t.Context(), muchText)
	began := time.Now()
	await(t, other, `select count(*) = 0 from pg_stat_activity where pid = $1`, pooled.Conn().PgConn().PID())
	if took := time.Since(began); took > inTime {
		t.Errorf("disconnected after %v, want about 2 s", took)
	}
	if err := result.Close(); err == nil {
		t.Error("the whole result was sent before the disconnect: the test proves nothing")
	}
}

// TestSlowAuditStaysConnected pauses between the rows and between the queries of a long snapshot. The session must
// not end.
func TestSlowAuditStaysConnected(t *testing.T) {
	enginetest.Nightly(t, "waits")
	t.Parallel()
	url := migratedDatabase(t)
	s := openStore(t, url+"&idle_in_transaction_session_timeout=500")
	must(t, s.withLongSnapshot(t.Context(), func(r pg.Reader) error {
		rs, err := r.Query(muchText)
		if err != nil {
			return err
		}
		slow := false
		all, err := pg.Collect(rs, func(rs tables.Row) (text string, err error) {
			if !slow {
				slow = true
				time.Sleep(5 * time.Second) // sleeps: the time of Postgres must pass
			}
			return tables.ScanText(rs)
		})
		if len(all) != 50_000 {
			t.Errorf("%d rows, want 50000", len(all))
		}
		time.Sleep(time.Second) // sleeps: the time of Postgres must pass
		return errors.Join(err, pg.Simple(r.Ctx, r.Conn, `select 1`))
	}))
}

// TestEndedSessionsAreNoOutage ends the session of a call, and those of its later tries. Another connection of the pool must go on, and calls
// must pass: Postgres is in reach.
func TestEndedSessionsAreNoOutage(t *testing.T) {
	t.Parallel()
	s := openStore(t, migratedDatabase(t))
	session := func(r reader) (pid int, err error) {
		_, err = r.Row(`select pg_backend_pid()`, nil, &pid)
		return pid, err
	}
	var kept, ended int
	must(t, s.withReader(t.Context(), func(r reader) (err error) {
		if kept, err = session(r); err != nil {
			return err
		}
		err = s.withReader(t.Context(), func(r reader) error {
			ended++
			return pg.Simple(r.Ctx, r.Conn, `select pg_terminate_backend(pg_backend_pid())`)
		})
		if !errors.Is(err, errLost) || ended < 2 {
			t.Errorf("%v after %d ended sessions, want two lost connections", err, ended)
		}
		return s.pool.Err()
	}))
	must(t, s.withReader(t.Context(), func(r reader) error {
		pid, err := session(r)
		if err == nil && pid != kept {
			t.Errorf("the pool has closed the connection to session %d", kept)
		}
		return err
	}))
	must(t, s.Ready(t.Context()))
}
