package schema

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/redpacket"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/tables"
)

// Source is one snapshot of a database of another engine, with the same tables and columns.
type Source interface {
	Tables() ([]string, error)
	Columns(table string) ([]string, error)
	Count(table string) (int64, error)
	Rows(table string, columns []string) (*sql.Rows, error)
	Audit(q redpacket.AuditQuery) (redpacket.Audit, error)
}

// ErrNotEmpty means that the database to fill has rows already.
var ErrNotEmpty = errors.New("the database is not empty")

// Fill copies all rows of the source into a database whose schema was just made, and returns what the audits of both find. It is one
// transaction: unless all rows and both audits agree, nothing is copied.
func Fill(ctx context.Context, url string, from Source, log *slog.Logger) (found redpacket.Audit, err error) {
	config, err := pg.ParseURL(url)
	if err != nil {
		return found, err
	}
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return found, fmt.Errorf("connect to HONGBAO_DATABASE_URL: %w", err)
	}
	defer pg.CloseConn(conn) // without a commit this rolls back
	if err := pg.PrepareConn(ctx, conn, log); err != nil {
		return found, err
	}
	f := filling{ctx: ctx, conn: conn, from: from, log: log}
	for _, step := range []func() error{f.begin, f.checkEmpty, f.copyAll, f.continueIdentities, f.compareAudits} {
		if err := step(); err != nil {
			return found, err
		}
	}
	return f.audit, pg.Commit(ctx, conn)
}

// filling is one call of Fill.
type filling struct {
	ctx  context.Context
	conn *pgx.Conn
	from Source
	log  *slog.Logger

	columns    map[string]map[string]pgColumn // by table and name
	identities [][2]string                    // tables and columns that Postgres numbers
	audit      redpacket.Audit
}

// pgColumn is a column of Postgres.
type pgColumn struct {
	table, name, kind string // kind: name of the type
	identity          bool
}

// begin begins the transaction, reads the schema and locks all tables, so that no server writes to them meanwhile. It
// fails on Citus.
func (f *filling) begin() error {
	if err := pg.Simple(f.ctx, f.conn, "begin; set local lock_timeout = '5s'; "+pg.WaitForClient); err != nil {
		return err
	}
	if citus, err := hasCitus(pg.Reader{Ctx: f.ctx, Conn: f.conn}); err != nil || citus {
		return errors.Join(err, errors.New("a Citus cluster cannot be filled by a copy: copy into one Postgres, make it the coordinator, and run hongbao migrate -split"))
	}
	found, err := tables.List(pg.Reader{Ctx: f.ctx, Conn: f.conn}, func(rs tables.Row) (c pgColumn, err error) {
		return c, rs.Scan(&c.table, &c.name, &c.kind, &c.identity)
	}, `select table_name::text, column_name::text, udt_name::text, is_identity = 'YES' from information_schema.columns
		where table_schema = current_schema() and table_name <> 'schema_migrations'`)
	if err != nil {
		return fmt.Errorf("read the schema: %w", err)
	}
	f.columns = map[string]map[string]pgColumn{}
	for _, c := range found {
		if f.columns[c.table] == nil {
			f.columns[c.table] = map[string]pgColumn{}
		}
		f.columns[c.table][c.name] = c
		if c.identity {
			f.identities = append(f.identities, [2]string{c.table, c.name})
		}
	}
	if err := pg.Simple(f.ctx, f.conn, "lock table "+strings.Join(f.tables(), ", ")+" in exclusive mode"); err != nil {
		return fmt.Errorf("lock the tables (does a server use the database?): %w", err)
	}
	return nil
}

// tables lists the tables of Postgres in order, without schema_migrations.
func (f *filling) tables() []string { return slices.Sorted(maps.Keys(f.columns)) }

// checkEmpty fails with ErrNotEmpty if a table has rows. The row that a migration has made, of no money in circulation, is deleted.
func (f *filling) checkEmpty() error {
	if err := pg.Simple(f.ctx, f.conn, `delete from circulation where amount = 0`); err != nil {
		return err
	}
	return mustBeEmpty(f.ctx, f.conn, f.tables())
}

// mustBeEmpty fails with ErrNotEmpty if one of the tables has rows. A row of circulation with the amount 0 does not
// count.
func mustBeEmpty(ctx context.Context, conn *pgx.Conn, tables []string) error {
	for _, table := range tables {
		rows := `from ` + pgx.Identifier{table}.Sanitize()
		if table == "circulation" {
			rows += ` where amount <> 0`
		}
		var some bool
		if err := conn.QueryRow(ctx, `select exists (select `+rows+`)`).Scan(&some); err != nil {
			return err
		}
		if some {
			return fmt.Errorf("%w: the table %s has rows; name a new database", ErrNotEmpty, table)
		}
	}
	return nil
}

// CheckEmpty fails with ErrNotEmpty if the database has a table with rows. The rows that migrations have made do not
// count. It changes nothing, so call it before the schema is made for Fill: a database that is in use by mistake must
// not be migrated.
func CheckEmpty(ctx context.Context, url string) error {
	config, err := pg.ParseURL(url)
	if err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return fmt.Errorf("connect to HONGBAO_DATABASE_URL: %w", err)
	}
	defer pg.CloseConn(conn)
	tables, err := tables.List(pg.Reader{Ctx: ctx, Conn: conn}, func(rs tables.Row) (name string, err error) { return name, rs.Scan(&name) },
		`select tablename::text from pg_tables where schemaname = current_schema() and tablename <> 'schema_migrations'`)
	if err != nil {
		return fmt.Errorf("read the schema: %w", err)
	}
	return mustBeEmpty(ctx, conn, tables)
}

func (f *filling) copyAll() error {
	tables, err := f.from.Tables()
	if err != nil {
		return err
	}
	if sorted := slices.Sorted(slices.Values(tables)); !slices.Equal(sorted, f.tables()) {
		return fmt.Errorf("the databases have different tables: %v and %v", sorted, f.tables())
	}
	for _, table := range tables {
		if err := f.copyTable(table); err != nil {
			return fmt.Errorf("copy table %s: %w", table, err)
		}
	}
	return nil
}

// copyTable copies the rows of a table, and compares their number.
func (f *filling) copyTable(table string) (err error) {
	columns, err := f.from.Columns(table)
	if err != nil {
		return err
	}
	want, err := f.from.Count(table)
	if err != nil {
		return err
	}
	source, err := f.from.Rows(table, columns)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	copied := &convertedRows{rows: source, values: make([]any, len(columns)), progress: func(n int64) {
		f.log.Info("copying", "table", table, "rows", n, "of", want)
	}}
	for _, c := range columns {
		column, ok := f.columns[table][c]
		if !ok {
			return fmt.Errorf("the column %s is not in Postgres", c)
		}
		copied.columns = append(copied.columns, column)
	}
	n, err := f.conn.CopyFrom(f.ctx, pgx.Identifier{table}, columns, copied)
	if err = cmp.Or(err, source.Err()); err != nil {
		return err
	}
	var has int64
	if err := f.conn.QueryRow(f.ctx, `select count(*) from `+table).Scan(&has); err != nil {
		return err
	}
	if n != want || has != want {
		return fmt.Errorf("%d rows of %d were copied, and %d are there", n, want, has)
	}
	f.log.Info("copied", "table", table, "rows", n)
	return pg.Simple(f.ctx, f.conn, "analyze "+table)
}

// continueIdentities makes Postgres number new rows after the copied ones.
func (f *filling) continueIdentities() error {
	for _, c := range f.identities {
		if _, err := f.conn.Exec(f.ctx, fmt.Sprintf(`select setval(pg_get_serial_sequence('%[1]s', '%[2]s'), coalesce(max(%[2]s), 0) + 1, false) from %[1]s`,
			c[0], c[1])); err != nil {
			return err
		}
	}
	return nil
}

// compareAudits audits both databases. The audits must find the same: the same sums, the same newest links of the hash chains
// and, if any, the same differences.
func (f *filling) compareAudits() error {
	query := redpacket.AuditQuery{Now: time.Now()}
	want, err := f.from.Audit(query)
	if err != nil {
		return fmt.Errorf("audit what was copied: %w", err)
	}
	if f.audit, err = Audit(pg.Reader{Ctx: f.ctx, Conn: f.conn}, CommandAudit, &query); err != nil {
		return fmt.Errorf("audit the copy: %w", err)
	}
	if a, b := inOrder(want), inOrder(f.audit); !reflect.DeepEqual(a, b) {
		return fmt.Errorf("the audits of the two databases differ, nothing was copied: %+v and %+v", a, b)
	}
	return nil
}

// inOrder returns the audit with its lists in order.
func inOrder(a redpacket.Audit) redpacket.Audit {
	byText := func(list []redpacket.Difference) []redpacket.Difference {
		return slices.SortedFunc(slices.Values(list), func(a, b redpacket.Difference) int {
			return strings.Compare(a.Kind+a.ID+a.What, b.Kind+b.ID+b.What)
		})
	}
	a.Differences, a.Notes = byText(a.Differences), byText(a.Notes)
	a.Heads = slices.SortedFunc(slices.Values(a.Heads), func(a, b redpacket.Head) int { return strings.Compare(a.String(), b.String()) })
	return a
}

// progressEvery is how often the copy of a large table is logged.
const progressEvery = 5 * time.Second

// convertedRows reads rows of another engine as values of Postgres. It implements pgx.CopyFromSource.
type convertedRows struct {
	rows     *sql.Rows
	columns  []pgColumn
	values   []any
	progress func(n int64)

	read   int64
	logged time.Time
}

// Next implements pgx.CopyFromSource.
func (c *convertedRows) Next() bool {
	if c.logged.IsZero() {
		c.logged = time.Now()
	}
	if time.Since(c.logged) > progressEvery {
		c.logged = time.Now()
		c.progress(c.read)
	}
	c.read++
	return c.rows.Next()
}

// Values implements pgx.CopyFromSource.
func (c *convertedRows) Values() ([]any, error) {
	dest := make([]any, len(c.values))
	for i := range dest {
		dest[i] = &c.values[i]
	}
	if err := c.rows.Scan(dest...); err != nil {
		return nil, err
	}
	for i, column := range c.columns {
		v, err := column.converted(c.values[i])
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", column.name, err)
		}
		c.values[i] = v
	}
	return c.values, nil
}

// Err implements pgx.CopyFromSource.
func (c *convertedRows) Err() error { return c.rows.Err() }

// converted returns a value as the type of the column. Another engine has booleans as numbers and lists as JSON, and its driver returns
// an empty value as nil.
func (c pgColumn) converted(v any) (any, error) {
	text, isText := v.(string)
	raw, isRaw := v.([]byte)
	switch number, isNumber := v.(int64); {
	case c.kind == "bool" && isNumber:
		return number != 0, nil
	case c.kind == "_int8" && isText:
		var list []int64
		err := json.Unmarshal([]byte(text), &list)
		return append([]int64{}, list...), err // not nil, which would be the SQL value null
	case c.kind == "_text" && isText:
		var list []string
		err := json.Unmarshal([]byte(text), &list)
		return append([]string{}, list...), err
	case isRaw && raw == nil:
		return []byte{}, nil // nil would be null
	}
	return v, nil
}
