package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

const (
	filledRows = 2000 // about the rows that each table gets before the statements are measured, however few it has
	// A statement may take freeSteps instructions of SQLite's virtual machine, and stepsPerRow more for each row that it returns or changes.
	// Reading a row takes at least three, so a scan of a filled table exceeds freeSteps.
	freeSteps   = 5000
	stepsPerRow = 250
	// A statement with more bytes has a list of very many values, and reads it, however few rows that finds.
	longestMeasured = 8 << 10
	samples         = 1 // how often each statement is measured, in databases of different tests
)

// mayReadMore are parts of statements that read more rows than they return, with what bounds these rows.
var mayReadMore = map[string]string{
	// The audit, and what a new epoch does once. A sample of the metrics reads at most 10,000 packets.
	` is distinct from (`:                                             "an audit reads all rows",
	`format('`:                                                        "an audit reads all rows",
	`(octet_length(name_seal) = 32 or`:                                "an audit reads all rows",
	`or h.kind = 'user' and exists (`:                                 "the legal holds of users, which hosts set one by one",
	`or kind = 'room' and exists (`:                                   "the legal holds of rooms, which hosts set one by one",
	`where octet_length(name_seal) = 32`:                              "an audit reads all rows",
	`from entries e left join packets p on p.room_id = e.room_id`:     "an audit reads all rows",
	`select coalesce(sum(counted), 0) from files`:                     "an audit reads all rows",
	`select room_id, seq, max(edit) as edit, max(recall) as recall`:   "an audit reads all rows",
	`coalesce(max(created_at), 0) as text) from packets where status`: "once an epoch",
	`update users set next_seed = null where next_seed is not null`:   "once an epoch",
	`where p.status = 'open' and p.created_at <=`:                     "once an epoch",
	`with open as materialized (select id, total`:                     "SamplePackets packets",
	`u.name like $`:                                                         "the search of users by name, among as many as UserQuery.Among",
	`from room_words where word >= $`:                                       "at most rareWord rooms",
	`from refs f join users u on u.id = f.id`:                               "the host's list of suspended users by the beginning of their names",
	`when count(*) filter (where chosen) < `:                                "the rooms of the users that are named, at most MaxRooms each",
	`select max(id) from event_marks where`:                                 "a mark for each round of PruneEvents, as long as its rows are kept",
	`and no = (select min(no) from event_holds where`:                       "at most maxHeld events of a consumer are not parked",
	`select distinct key from event_holds where consumer = $1 and not park`: "at most maxHeld events of a consumer are not parked",
	`select count(*) from event_holds where consumer = $1 and not parked`:   "at most maxHeld events of a consumer are not parked",
}

// neverFilled are parts of statements whose tables have no rows at the end of any test.
var neverFilled = []string{
	`select id from users u where u.id in`, `delete from push_subscriptions where`, `delete from pictures where`,
	`select chain, id, at, refs from events where chain = ? and id = ?`,
}

// firstRows are rows of tables that have none at the end of many tests.
var firstRows = []string{
	`insert into blocks (user_id, blocked, at) values ('u', 'v', 1)`,
	`insert into erasures (user_id, texts, asked_at, done_at, next_at) values ('u', 1, 1, 1, 1)`,
	`insert into files (room_id, id, user_id, kind, at, state, upload, counted, body, touched_at) values ('r', 'f', 'u', 'picture', 1, 'ready', 0, 0, '{}', 1)`,
	`insert into held_texts (room_id, id, user_id, name, at, rule, key, message) values ('r', 'h', 'u', 'u', 1, 'w', 'k', '{}')`,
	`insert into invite_links (room_id, id, creator, created_at, expires_at, max_uses) values ('r', 'l', 'u', 1, 1, 0)`,
	`insert into join_requests (room_id, user_id, at) values ('r', 'u', 1)`,
	`insert into legal_holds (kind, id, at, actor, reason) values ('user', 'u', 1, 'a', 'r')`,
	`insert into persons (packet_id, person, user_id, at) values ('p', 'n', 'u', 1)`,
	`insert into retention (room_id) values ('r')`,
	`insert into room_rules (room_id, rules) values ('r', '{}')`,
	`insert into sockets (user_id, socket, at, what, code) values ('u', 's', 1, 'opened', 0)`,
}

// statements are those that the suites of the store, the ledger, the events and the fundings send.
var statements = &measured{counts: map[string]int{}}

// TestStatementsReadFewRows judges the statements of those suites, which run before it. When a test of a suite has ended, its tables are filled
// with rows of other rooms and users, and each of its statements runs once more: it must not read the rows that were added. Held events are added to
// the same consumer.
func TestStatementsReadFewRows(t *testing.T) {
	m := statements
	if len(m.counts) == 0 { // the suites have not run
		t.Run("store", TestStore)
		t.Run("ledger", TestLedger)
		t.Run("events", TestEvents)
		t.Run("fundings", TestFundings)
	}
	for part := range mayReadMore {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(m.counts)), func(text string) bool { return strings.Contains(text, part) }) {
			t.Errorf("no statement has the text %q", part)
		}
	}
	for text, n := range m.counts {
		if n == 0 && !slices.ContainsFunc(neverFilled, func(part string) bool { return strings.Contains(text, part) }) {
			t.Errorf("not measured, because a table that it names never had rows:\n%s", text)
		}
	}
}

// measured is how often each statement was measured.
type measured struct {
	mu     sync.Mutex
	counts map[string]int // guarded by mu; by text of the statement
}

// openMeasured opens a store on a new database, whose statements are measured when the test has ended.
func openMeasured(t *testing.T) (dir string, s *Store) {
	t.Helper()
	dir = migratedFolder(t)
	record := recordStatements(t, dir)
	t.Cleanup(func() { statements.measure(t, dir, record) }) // runs after the store is closed
	return dir, openStore(t, dir)
}

// measure measures those statements of a test that were not measured samples times.
func (m *measured) measure(t *testing.T, dir string, r *recorder) {
	m.mu.Lock()
	defer m.mu.Unlock()
	wanted := map[string]string{}
	for text, bound := range r.stop() {
		if m.counts[text] < samples && !strings.Contains(text, "of the test") {
			wanted[text] = bound
		}
	}
	if len(wanted) == 0 || t.Failed() {
		return
	}
	db, err := open(context.Background(), filepath.Join(dir, FileName), 1)
	noError(t, err)
	defer func() { _ = db.Close() }()
	conn, err := db.Conn(context.Background())
	noError(t, err)
	defer func() { _ = conn.Close() }()
	empty := fillTables(t, conn)
	for _, text := range slices.Sorted(maps.Keys(wanted)) {
		m.counts[text] += 0
		if names(text, empty) || len(wanted[text]) > longestMeasured {
			continue // another test may have rows in its tables, or a shorter list
		}
		m.counts[text]++
		rows, steps := runMeasured(t, conn, r, wanted[text])
		if bound := freeSteps + stepsPerRow*rows; steps > bound && !allowed(text) {
			t.Errorf("%d steps for %d rows, want at most %d:\n%s", steps, rows, bound, wanted[text])
		}
	}
}

// namedTables finds the names of tables in a statement.
var namedTables = regexp.MustCompile(`\b(?:from|join|into|update) (\w+)`)

// names reports whether the statement names one of the tables.
func names(text string, tables []string) bool {
	for _, name := range namedTables.FindAllStringSubmatch(text, -1) {
		if slices.Contains(tables, name[1]) {
			return true
		}
	}
	return false
}

func allowed(text string) bool {
	for part := range mayReadMore {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// runMeasured runs a statement in a transaction that is rolled back. It returns the rows that it has returned or changed, and its steps.
func runMeasured(t *testing.T, conn *sql.Conn, r *recorder, statement string) (rows, steps int) {
	ctx := context.Background()
	must := func(err error) {
		if err != nil {
			t.Fatalf("%v\n%s", err, statement)
		}
	}
	tx, err := conn.BeginTx(ctx, nil)
	must(err)
	defer func() { must(tx.Rollback()) }()
	r.start()
	rs, err := tx.QueryContext(ctx, statement)
	if err != nil && strings.Contains(err.Error(), "constraint failed") { // the first run has added the same row
		r.stop()
		return 0, 0
	}
	must(err)
	for rs.Next() {
		rows++
	}
	must(rs.Err())
	must(rs.Close())
	_, steps = r.take()
	changed := 0
	must(tx.QueryRowContext(ctx, `select changes()`).Scan(&changed))
	if !strings.HasPrefix(statement, "select") && !strings.HasPrefix(statement, "with") {
		rows = max(rows, changed)
	}
	return rows, steps
}

// copied are the columns that tell rows of other rooms and users apart. Rows that are added have other values there.
var copied = []string{
	"id", "user_id", "room_id", "packet_id", "key", "transfer", "sender", "creator", "pair", "ref", "blocked", "debit", "credit", "endpoint", "instance", "name", "host_key", "origin",
}

// counted are the columns with numbers that a table of one room or user has no second time.
var counted = []string{"id", "no", "minute", "link", "word"}

// fillTables adds rows to each table that has some and may have many, and returns the names of the tables without rows.
func fillTables(t *testing.T, conn *sql.Conn) (empty []string) {
	ctx := context.Background()
	must := func(err error) {
		noError(t, err)
	}
	list := func(query string, args ...any) (all [][2]string) {
		rs, err := conn.QueryContext(ctx, query, args...)
		must(err)
		for rs.Next() {
			var v [2]string
			must(rs.Scan(&v[0], &v[1]))
			all = append(all, v)
		}
		must(rs.Err())
		must(rs.Close())
		return all
	}
	for _, row := range firstRows {
		_, err := conn.ExecContext(ctx, row)
		must(err)
	}
	for _, table := range list(`select name, '' from sqlite_schema where type = 'table' and name not like 'sqlite_%'
		and name not in ('schema_migrations', 'circulation', 'file_usage', 'chains', 'settings')`) {
		name := table[0]
		var columns, values []string
		for _, c := range list(`select name, type from pragma_table_info(?)`, name) {
			columns = append(columns, c[0])
			switch value := "x." + c[0]; {
			case strings.EqualFold(c[1], "text") && slices.Contains(copied, c[0]) && name != "event_holds":
				values = append(values, value+` || '~' || i`)
			case strings.EqualFold(c[1], "integer") && slices.Contains(counted, c[0]):
				values = append(values, value+` + 1000 * i`)
			default:
				values = append(values, value)
			}
		}
		statement := fmt.Sprintf(`insert or ignore into %s (%s) with recursive
				x as (select * from %s limit 4), c (i) as (select 1 union all select i + 1 from c where i < %d / (select count(*) from x))
			select %s from x, c`, name, strings.Join(columns, ", "), name, filledRows, strings.Join(values, ", "))
		res, err := conn.ExecContext(ctx, statement)
		if err != nil {
			t.Fatalf("%v\n%s", err, statement)
		}
		if n, err := res.RowsAffected(); err == nil && n < filledRows-filledRows/100 {
			empty = append(empty, name)
		}
	}
	return empty
}

// recorder records the statements of the connections to one database, with the values of their parameters, and how many steps they take.
type recorder struct {
	mu    sync.Mutex
	on    bool              // guarded by mu
	bound map[string]string // guarded by mu; by text
	steps int               // guarded by mu
}

// recorders are the recorders by the number that their connections pass to traced.
var recorders struct {
	hook sync.Once
	mu   sync.Mutex
	dirs map[string]uintptr    // guarded by mu
	all  map[uintptr]*recorder // guarded by mu
}

// recordStatements records the statements of all connections that are opened from now on to the database in dir.
func recordStatements(t *testing.T, dir string) *recorder {
	t.Helper()
	recorders.hook.Do(func() { sqlite.RegisterConnectionHook(traceConnection) })
	recorders.mu.Lock()
	defer recorders.mu.Unlock()
	if recorders.all == nil {
		recorders.dirs, recorders.all = map[string]uintptr{}, map[uintptr]*recorder{}
	}
	number := uintptr(len(recorders.all) + 1)
	r := &recorder{on: true, bound: map[string]string{}}
	recorders.dirs[filepath.Join(dir, FileName)], recorders.all[number] = number, r
	return r
}

func (r *recorder) start() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.on, r.bound, r.steps = true, map[string]string{}, 0
}

// take stops recording, and returns what was recorded since the start.
func (r *recorder) take() (bound map[string]string, steps int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.on = false
	return r.bound, r.steps
}

func (r *recorder) stop() map[string]string {
	bound, _ := r.take()
	return bound
}

// traceConnection makes SQLite call traced for each statement of a new connection, if its database has a recorder. The driver does not offer that,
// so traceConnection reads two fields of its connection.
func traceConnection(conn sqlite.ExecQuerierContext, dsn string) error {
	path, _, _ := strings.Cut(strings.TrimPrefix(dsn, "file:"), "?")
	recorders.mu.Lock()
	number := recorders.dirs[path]
	recorders.mu.Unlock()
	if number == 0 {
		return nil
	}
	c := reflect.ValueOf(conn).Elem()
	tls, db := (*libc.TLS)(c.FieldByName("tls").UnsafePointer()), uintptr(c.FieldByName("db").Uint())
	callback := struct {
		call func(*libc.TLS, uint32, uintptr, uintptr, uintptr) int32
	}{traced}
	if code := sqlite3.Xsqlite3_trace_v2(tls, db, sqlite3.SQLITE_TRACE_PROFILE, *(*uintptr)(unsafe.Pointer(&callback)), number); code != sqlite3.SQLITE_OK {
		return fmt.Errorf("trace statements: code %d", code)
	}
	return nil
}

// traced is called when a statement has ended.
func traced(tls *libc.TLS, _ uint32, number, statement, _ uintptr) int32 {
	recorders.mu.Lock()
	r := recorders.all[number]
	recorders.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	steps := int(sqlite3.Xsqlite3_stmt_status(tls, statement, sqlite3.SQLITE_STMTSTATUS_VM_STEP, 1))
	if !r.on {
		return 0
	}
	text := libc.GoString(sqlite3.Xsqlite3_sql(tls, statement))
	first, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	if first = strings.TrimSpace(first); !slices.Contains([]string{"select", "insert", "update", "delete", "with"}, first) {
		return 0
	}
	expanded := sqlite3.Xsqlite3_expanded_sql(tls, statement)
	r.bound[text] = libc.GoString(expanded)
	sqlite3.Xsqlite3_free(tls, expanded)
	r.steps += steps
	return 0
}
