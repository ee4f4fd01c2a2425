package pgstore

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"hongbao/migrations"
	"hongbao/store/enginetest"
	"hongbao/store/pgstore/internal/pg"
)

const (
	filledRows = 1000 // about the rows that each table gets before the statements are measured, however few it has
	// A statement may read freeRows rows, and rowsPerRow more for each row that it returns or changes.
	freeRows   = 300
	rowsPerRow = 10
	// A statement that changes nothing may touch freePages pages, and pagesPerRow more for each row that it reads. An index that is read from end
	// to end by one of its later columns returns few rows, but all its pages are touched.
	freePages   = 20
	pagesPerRow = 4
)

// mayReadMore are parts of statements that read more rows than they return, with what bounds these rows.
var mayReadMore = map[string]string{
	// The audit, and what a new epoch does once. A sample of the metrics reads at most 10,000 packets.
	` is distinct from (`:                                                   "an audit reads all rows",
	`format(?`:                                                              "an audit reads all rows",
	`(octet_length(name_seal) = ? or`:                                       "an audit reads all rows",
	`select coalesce(sum(counted), ?) fr`:                                   "an audit reads all rows",
	`delete from entry_words where (word`:                                   "the words of the texts that a step empties, and all of them are given",
	`or h.kind = ? and exists (`:                                            "the legal holds of users, which hosts set one by one",
	`or kind = ? and exists (`:                                              "the legal holds of rooms, which hosts set one by one",
	`row_number() over (order by a.at desc`:                                 "the newest rows of the rarest word of a search, at most as many as are compared",
	`where octet_length(name_seal) = ?`:                                     "an audit reads all rows",
	`from entries e left join packets p on p.room_id = e.room_id`:           "an audit reads all rows",
	`select room_id, seq, max(edit) as edit, max(recall) as recall`:         "an audit reads all rows",
	`from chains c where not exists`:                                        "an audit reads all rows",
	`in (debit, credit)`:                                                    "an audit reads all rows",
	`coalesce(max(created_at), ?) from packets where status`:                "once an epoch",
	`update users set next_seed = ? where next_seed is not ?`:               "once an epoch",
	`where p.status = 'open' and p.created_at <=`:                           "once an epoch",
	`with open as materialized (select id, total`:                           "SamplePackets packets",
	`lower(u.name collate "C") like`:                                        "the search of users by name, among as many as UserQuery.Among",
	`from refs f join users u on u.id = f.id`:                               "the host's list of suspended users by the beginning of their names",
	`from room_words where word >= $`:                                       "at most rareWord rooms",
	`select max(id) from event_marks where`:                                 "a mark for each round of PruneEvents, as long as its rows are kept",
	`and no = (select min(no) from event_holds where`:                       "at most maxHeld events of a consumer are not parked",
	`select distinct key from event_holds where consumer = $1 and not park`: "at most maxHeld events of a consumer are not parked",
	`select count(*) from event_holds where consumer = $1 and not parked`:   "at most maxHeld events of a consumer are not parked",
	`where link between $2 and $3`:                                          "the indexes of links (brin) lead to ranges of 128 pages, not to rows",
}

// neverFilled are parts of statements whose tables have no rows at the end of any test.
var neverFilled = []string{
	`select id from users u where u.id = any`, `delete from invite_links where room_id = ? and id = ?`, `delete from pictures where`,
	`from (select distinct chain, id from unnest($1::bigint[], $2::bigint[]) i (chain, id)) i`,
}

// firstRows are rows of tables that have none at the end of many tests.
var firstRows = map[string]string{
	"blocks":          `insert into blocks (user_id, blocked, at) values ('u', 'v', 1)`,
	"erasures":        `insert into erasures (user_id, texts, asked_at, done_at, next_at) values ('u', true, 1, 1, 1)`,
	"files":           `insert into files (room_id, id, user_id, kind, at, state, upload, counted, body, touched_at) values ('r', 'f', 'u', 'picture', 1, 'ready', 0, 0, '{}', 1)`,
	"held_texts":      `insert into held_texts (room_id, id, user_id, name, at, rule, key, message) values ('r', 'h', 'u', 'u', 1, 'w', 'k', '{}')`,
	"invite_links":    `insert into invite_links (room_id, id, creator, created_at, expires_at, max_uses) values ('r', 'l', 'u', 1, 1, 0)`,
	"join_requests":   `insert into join_requests (room_id, user_id, at) values ('r', 'u', 1)`,
	"legal_holds":     `insert into legal_holds (kind, id, at, actor, reason) values ('user', 'u', 1, 'a', 'r')`,
	"mentions_of_all": `insert into mentions_of_all (room_id, at, seq) values ('r', 1, 1)`,
	"persons":         `insert into persons (packet_id, person, user_id, at) values ('p', 'n', 'u', 1)`,
	"retention":       `insert into retention (room_id) values ('r')`,
	"room_rules":      `insert into room_rules (room_id, rules) values ('r', '{}')`,
	"sockets":         `insert into sockets (user_id, socket, at, what, code) values ('u', 's', 1, 'opened', 0)`,
}

// statement is what was sent to Postgres, with its values.
type statement struct {
	text     string
	types    []uint32 // of the values; empty: the values are in the text
	formats  []int16
	values   [][]byte
	prepares string // the text of the prepared statement that text executes, or ""
	name     string // of that statement
}

// recorder records what the connections to one database send.
type recorder struct {
	url   string
	mu    sync.Mutex
	sent  map[string]statement // guarded by mu; by text without values
	trips int                  // guarded by mu; how often a client has waited for Postgres, but for its checks of idle connections
}

// ofTheTest marks a statement of a test, so that it is not measured. Citus, where none is measured, takes the end of a comment away.
func ofTheTest(statement string) string {
	if *citus {
		return statement
	}
	return statement + ` /* of the test */`
}

// recorded are the recorders of the tests so far.
var recorded struct {
	mu  sync.Mutex
	all []*recorder // guarded by mu
}

// measuredStore opens a store on a new database. TestStatementsReadFewRows measures what it sends.
func measuredStore(t *testing.T) *Store {
	t.Helper()
	if *citus {
		return openStore(t, migratedDatabase(t))
	}
	s, r := recordedStore(t)
	recorded.mu.Lock()
	recorded.all = append(recorded.all, r)
	recorded.mu.Unlock()
	return s
}

// recordedStore opens a store on a new database, and records what it sends.
func recordedStore(t *testing.T) (*Store, *recorder) {
	t.Helper()
	url := migratedDatabase(t)
	r := &recorder{url: url, sent: map[string]statement{}}
	config, err := pg.ParseURL(url)
	must(t, err)
	dial := config.ConnConfig.DialFunc
	config.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &recordedConn{Conn: conn, recorder: r, prepared: map[string]pgproto3.Parse{}}, nil
	}
	s, err := openConfig(t.Context(), config, migrations.Auto, discardLog)
	must(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, r
}

// recordedConn is a connection to Postgres. It decodes what the client writes.
type recordedConn struct {
	net.Conn
	recorder *recorder
	rest     []byte // the beginning of a message whose end is not written yet
	started  bool   // the first message, which has no type, was written
	prepared map[string]pgproto3.Parse
}

func (c *recordedConn) Write(b []byte) (int, error) {
	c.rest = append(c.rest, b...)
	for c.next() {
	}
	return c.Conn.Write(b)
}

// next decodes the next message, and returns false if it is not complete.
func (c *recordedConn) next() bool {
	head := 1
	if !c.started {
		head = 0
	}
	if len(c.rest) < head+4 {
		return false
	}
	size := head + int(binary.BigEndian.Uint32(c.rest[head:]))
	if len(c.rest) < size {
		return false
	}
	const sslRequest = 80877103
	body := c.rest[head+4 : size]
	if head == 0 {
		c.started = binary.BigEndian.Uint32(body) != sslRequest
	} else {
		c.note(c.rest[0], body)
	}
	c.rest = c.rest[size:]
	return true
}

func (c *recordedConn) note(kind byte, body []byte) {
	var query pgproto3.Query
	var parse pgproto3.Parse
	var bind pgproto3.Bind
	if kind == 'S' || kind == 'Q' && !bytes.HasPrefix(body, []byte("-- ping")) {
		c.recorder.mu.Lock()
		c.recorder.trips++
		c.recorder.mu.Unlock()
	}
	switch {
	case kind == 'Q' && query.Decode(body) == nil:
		for _, text := range splitStatements(query.String) {
			c.recorder.add(c.withPrepared(statement{text: text}))
		}
	case kind == 'P' && parse.Decode(slices.Clone(body)) == nil:
		c.prepared[parse.Name] = parse
	case kind == 'B' && bind.Decode(slices.Clone(body)) == nil:
		p := c.prepared[bind.PreparedStatement]
		c.recorder.add(statement{text: p.Query, types: p.ParameterOIDs, formats: bind.ParameterFormatCodes, values: bind.Parameters})
	}
}

// withPrepared adds the text of the prepared statement that s executes.
func (c *recordedConn) withPrepared(s statement) statement {
	if rest, found := strings.CutPrefix(s.text, "execute "); found {
		s.name, _, _ = strings.Cut(rest, "(")
		s.prepares = c.prepared[s.name].Query
	}
	return s
}

func (r *recorder) add(s statement) {
	key := cmp.Or(s.prepares, s.text)
	if s.prepares == "" && len(s.values) == 0 {
		key = withoutValues(key)
	}
	verb := strings.Fields(key + " x")[0]
	if !slices.Contains([]string{"select", "insert", "update", "delete", "with"}, verb) || strings.Contains(key, "of the test") {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent[key] = s
}

// splitStatements returns the statements of a simple Query.
func splitStatements(text string) (all []string) {
	from, quoted, dollars := 0, false, false
	for i := range len(text) {
		switch {
		case text[i] == '\'' && !dollars:
			quoted = !quoted
		case text[i] == '$' && i > 0 && text[i-1] == '$' && !quoted:
			dollars = !dollars
		case text[i] == ';' && !quoted && !dollars:
			all, from = append(all, strings.TrimSpace(text[from:i])), i+1
		}
	}
	return append(all, strings.TrimSpace(text[from:]))
}

// withoutValues returns the text of a statement of a simple Query without its texts, numbers and other values, and with each list of values once.
// Most of them are literals that package pg has written there.
func withoutValues(text string) string {
	out := make([]byte, 0, 512)
	value := func() {
		before := bytes.TrimRight(out, " ,()")
		if len(before) > 0 && before[len(before)-1] == '?' {
			out = before // the last value is another one of the same list
			return
		}
		out = append(out, '?')
	}
	for i := 0; i < len(text); {
		from, c := i, text[i]
		i++
		switch {
		case c == '\'':
			for i < len(text) && text[i] != '\'' { // two quotes in a text make two texts, which are one list
				i++
			}
			i++
			out = bytes.TrimSuffix(out, []byte("U&")) // before the quote of a literal with code points
			value()
		case c == ' ' || c == '\t' || c == '\n':
			if len(out) > 0 && out[len(out)-1] != ' ' {
				out = append(out, ' ')
			}
		case isWord(c):
			for i < len(text) && isWord(text[i]) {
				i++
			}
			switch word := text[from:i]; {
			case '0' <= c && c <= '9', word == "null", word == "true", word == "false":
				value()
			default:
				out = append(out, word...)
			}
		default:
			out = append(out, c)
		}
	}
	return strings.TrimSpace(string(out))
}

func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '$'
}

// namedTables finds the names of tables in a statement.
var namedTables = regexp.MustCompile(`\b(?:from|join|into|update) (\w+)`)

// TestStatementsReadFewRows measures each statement that the suites of the store, the ledger, the events and the fundings send. It fills the
// tables of a database that a test of a suite has left with rows of other rooms and users. Then it runs the statements of
// that test once more under EXPLAIN: they must not read the rows that were added. Held events are added to the same consumer.
//
// EXPLAIN runs without sequential scans, hash joins and merge joins where an index will do, because the plans of small tables depend on estimates.
func TestStatementsReadFewRows(t *testing.T) {
	if *citus {
		t.Skip("a coordinator of Citus explains no rows of its workers")
	}
	enginetest.Need(t, "Postgres")
	if len(recorded.all) == 0 { // the suites have not run
		t.Run("store", TestStore)
		t.Run("ledger", TestLedger)
		t.Run("events", TestEvents)
		t.Run("fundings", TestFundings)
	}
	if len(recorded.all) == 0 {
		t.Fatal("the suites have recorded no statement")
	}
	counts := map[string]int{} // how often each statement was measured
	for _, r := range recorded.all {
		for key := range r.sent {
			counts[key] = 0
		}
	}
	left := slices.Clone(recorded.all)
	for len(left) > 0 { // first the databases with most statements that are not measured yet
		wanted := func(r *recorder) (n int) {
			for key := range r.sent {
				n += 1 - counts[key]
			}
			return n
		}
		slices.SortStableFunc(left, func(a, b *recorder) int { return cmp.Compare(wanted(a), wanted(b)) })
		last := left[len(left)-1]
		if left = left[:len(left)-1]; wanted(last) == 0 {
			break
		}
		last.measure(t, counts)
	}
	for part := range mayReadMore {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(counts)), func(text string) bool { return strings.Contains(text, part) }) {
			t.Errorf("no statement has the text %q", part)
		}
	}
	for text, n := range counts {
		if n == 0 && !containsAny(text, neverFilled) {
			t.Errorf("not measured, because a table that it names never had rows:\n%s", text)
		}
	}
}

func containsAny(text string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}

// measure measures those statements of a test that were not measured yet.
func (r *recorder) measure(t *testing.T, counts map[string]int) {
	wanted, tables := []string{}, map[string]bool{}
	for key := range r.sent {
		if counts[key] == 0 {
			wanted = append(wanted, key)
			for _, name := range namedTables.FindAllStringSubmatch(key, -1) {
				tables[name[1]] = true
			}
		}
	}
	conn := connect(t, r.url)
	empty := fillTables(t, conn, tables)
	slices.Sort(wanted)
	for _, key := range wanted {
		if slices.ContainsFunc(namedTables.FindAllStringSubmatch(key, -1), func(name []string) bool { return empty[name[1]] }) {
			continue // another test may have rows in its tables
		}
		u, ok := explain(t, conn, r.sent[key])
		counts[key] = 1
		if !ok {
			continue
		}
		rows, pages := freeRows+rowsPerRow*u.rows, freePages+pagesPerRow*u.read
		if u.changes {
			pages = math.MaxInt
		}
		if (u.read > rows || u.pages > pages) && !containsAny(key, slices.Collect(maps.Keys(mayReadMore))) {
			t.Errorf("returned or changed %d rows, read %d, want at most %d, and %d pages, want at most %d:\n%s", u.rows, u.read, rows, u.pages, pages, key)
		}
	}
}

// usage is what a statement has read.
type usage struct {
	rows    int // returned or changed
	read    int // rows that scans have read, or have read and left out
	pages   int
	changes bool // it is no select
}

// plan is a node of a plan, as EXPLAIN describes it.
type plan struct {
	Node     string  `json:"Node Type"`
	Relation string  `json:"Relation Name"`
	Index    string  `json:"Index Name"`
	Rows     float64 `json:"Actual Rows"`
	Loops    float64 `json:"Actual Loops"`
	Filtered float64 `json:"Rows Removed by Filter"`
	Checked  float64 `json:"Rows Removed by Index Recheck"`
	Hit      int     `json:"Shared Hit Blocks"`
	Read     int     `json:"Shared Read Blocks"`
	Plans    []plan
}

func (p plan) add(u *usage) {
	if p.Relation != "" && p.Node != "ModifyTable" || p.Index != "" {
		u.read += int(p.Loops * (p.Rows + p.Filtered + p.Checked))
	}
	if p.Node == "ModifyTable" || p.Node == "LockRows" {
		u.changes = true
		for _, from := range p.Plans {
			u.rows = max(u.rows, int(from.Rows*from.Loops))
		}
	}
	for _, from := range p.Plans {
		from.add(u)
	}
}

// explain runs the statement in a transaction that is rolled back, and returns what it has read. It returns false if the
// rows of the first run make it fail.
func explain(t *testing.T, conn *pgx.Conn, s statement) (u usage, ok bool) {
	ctx := context.Background()
	must(t, pg.Simple(ctx, conn, `begin; set local enable_seqscan = off; set local enable_hashjoin = off; set local enable_mergejoin = off`))
	defer func() { must(t, pg.Rollback(ctx, conn)) }()
	text := "explain (analyze, buffers, timing off, format json) " + s.text
	if s.prepares != "" {
		must(t, pg.Simple(ctx, conn, `deallocate all`))
		_, err := conn.PgConn().Prepare(ctx, s.name, s.prepares, nil)
		must(t, err)
	}
	var result *pgconn.Result
	if len(s.values) == 0 {
		results, err := conn.PgConn().Exec(ctx, text).ReadAll()
		if err == nil {
			result = results[0]
		} else {
			result = &pgconn.Result{Err: err}
		}
	} else {
		result = conn.PgConn().ExecParams(ctx, text, s.values, s.types, s.formats, nil).Read()
	}
	if pg.SQLClass(pg.SQLState(result.Err)) == "23" {
		return usage{}, false
	}
	if result.Err != nil {
		t.Fatalf("%v\n%s", result.Err, text)
	}
	var explained []struct{ Plan plan }
	must(t, json.Unmarshal(result.Rows[0][0], &explained))
	root := explained[0].Plan
	u = usage{rows: int(root.Rows), pages: root.Hit + root.Read}
	root.add(&u)
	return u, true
}

// copied are the columns that tell rows of other rooms and users apart. Rows that are added have other values there.
var copied = []string{
	"id", "user_id", "room_id", "packet_id", "key", "transfer", "sender", "creator", "pair", "ref", "blocked", "debit", "credit", "endpoint", "instance", "name", "host_key", "origin",
	"about", "reporter",
}

// counted are the columns with numbers that a table of one room or user has no second time.
var counted = []string{"id", "no", "minute", "link", "word"}

// single are the tables that never have many rows.
var single = []string{"schema_migrations", "circulation", "file_usage", "chains", "settings"}

// fillTables adds rows to each of the tables that has some and may have many. It returns the names of the tables without rows.
func fillTables(t *testing.T, conn *pgx.Conn, named map[string]bool) (empty map[string]bool) {
	ctx := context.Background()
	columns, err := conn.Query(ctx, `select table_name, string_agg(quote_ident(column_name), ', ' order by ordinal_position), string_agg(case
			when data_type = 'text' and column_name = any($1) and table_name <> 'event_holds' then 'x.' || column_name || ' || ''~'' || i'
			when data_type in ('bigint', 'integer') and column_name = any($2) then 'x.' || column_name || ' + 1000 * i'
			else 'x.' || quote_ident(column_name) end, ', ' order by ordinal_position)
		from information_schema.columns where table_schema = current_schema() and table_name = any($3) and not table_name = any($4) group by 1`,
		copied, counted, slices.Collect(maps.Keys(named)), single)
	must(t, err)
	type table struct{ Name, Columns, Values string }
	all, err := pgx.CollectRows(columns, pgx.RowToStructByPos[table])
	must(t, err)
	empty = map[string]bool{}
	must(t, pg.Simple(ctx, conn, `begin; set local session_replication_role = replica`)) // no triggers
	for _, table := range all {
		if row := firstRows[table.Name]; row != "" {
			must(t, pg.Simple(ctx, conn, row))
		}
		tag, err := conn.Exec(ctx, fmt.Sprintf(`with x as materialized (select * from %s limit 4)
			insert into %[1]s (%s) overriding system value select %s from x, generate_series(1, %d / greatest(1, (select count(*) from x))) i on conflict do nothing`,
			table.Name, table.Columns, table.Values, filledRows))
		if err != nil {
			t.Fatalf("fill %s: %v", table.Name, err)
		}
		empty[table.Name] = tag.RowsAffected() < filledRows-filledRows/100
	}
	must(t, pg.Simple(ctx, conn, `commit`))
	for _, table := range all {
		must(t, pg.Simple(ctx, conn, `analyze `+table.Name))
	}
	return empty
}
