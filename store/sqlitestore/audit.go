package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"hongbao/migrations"
	"hongbao/redpacket"
	"hongbao/store/audit"
	"hongbao/store/tables"
)

// Audit implements redpacket.Ledger. It reads one snapshot, while the server keeps running.
func (s *Store) Audit(ctx context.Context, q *redpacket.AuditQuery) (redpacket.Audit, error) {
	return s.read.audit(ctx, q)
}

func (p *pool) audit(ctx context.Context, q *redpacket.AuditQuery) (a redpacket.Audit, err error) {
	err = p.view(ctx, nil, func(r reader) error {
		a, err = audit.Run(snapshot{r}, auditDialect, q)
		return err
	})
	return a, tables.Outcome("audit", err)
}

// auditDialect limits each amount, so that a forged one cannot make a sum overflow.
var auditDialect = audit.Dialect{
	Amount:  func(column string) string { return `min(` + column + `, 9007199254740991)` },
	Bounded: func(sum string) string { return sum },
	// This union takes the place of a full join, which would compare each wallet with each sum.
	Wallets: `select user_id, format('its balance is %d, its transfers add up to %d', sum(balance), sum(moved))
		from (select user_id, balance, 0 as moved from wallets union all
			select user_id, 0, iif(credit = 'user:' || user_id, 1, -1) * min(amount, 9007199254740991) from transfers)
		group by user_id having sum(balance) <> sum(moved)`,

	Shares: `shares`, Recipients: `recipients`, Winners: `winners`,
	Claims: `(select json_group_array(json_array(c.share_no, c.user_id, c.amount, c.luckiest, c.at) order by c.share_no)
			from claims c where c.packet_id = p.id)`,
	Counts: `json_group_object(emoji, n)`,
}

// snapshot is a reader inside a transaction.
type snapshot struct{ reader }

// Open implements audit.Snapshot.
func (s snapshot) Open(_, query string) (audit.Cursor, error) {
	rs, err := s.query(query) //nolint:rowserrcheck // auditCursor.Next checks it
	return auditCursor{rs}, err
}

type auditCursor struct{ *sql.Rows }

// Next implements audit.Cursor.
func (c auditCursor) Next(n int, scan func(tables.Row) error) (read int, err error) {
	for ; read < n && c.Rows.Next(); read++ {
		if err := scan(c.Rows); err != nil {
			return read, err
		}
	}
	return read, c.Err()
}

// Auditor reads a database file, to audit, copy or back it up. It writes nothing to that file, not even the schema.
type Auditor struct{ read *pool }

// OpenAuditor opens the database in dir for reading. It fails with an error of package migrations if the schema is not that
// of this version.
func OpenAuditor(ctx context.Context, dir string) (*Auditor, error) {
	path := filepath.Join(dir, FileName)
	q := url.Values{"mode": {"ro"}, "_pragma": {lockTimeout, "query_only(1)", "temp_store(MEMORY)"}}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+q.Encode())
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	db.SetMaxOpenConns(1)
	a := &Auditor{newPool(db)}
	if err := a.checkSchema(ctx); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// checkSchema returns nil if the database has exactly the migrations of this version.
func (a *Auditor) checkSchema(ctx context.Context) error {
	applied, err := appliedMigrations(reader{ctx: ctx, on: a.read})
	if err != nil {
		return tables.Outcome("read schema", err)
	}
	return migrations.Check(migrations.SQLite(), applied)
}

// Audit checks the books in one snapshot. See redpacket.Ledger.
func (a *Auditor) Audit(ctx context.Context, q *redpacket.AuditQuery) (redpacket.Audit, error) {
	return a.read.audit(ctx, q)
}

// Setting returns the value that is stored under the name, or nil.
func (a *Auditor) Setting(ctx context.Context, name string) (value []byte, err error) {
	_, err = reader{ctx: ctx, on: a.read}.Row(`select value from settings where name = ?`, []any{name}, &value)
	return value, tables.Outcome("read setting", err)
}

// Close closes the file.
func (a *Auditor) Close() error { return a.read.Close() }

// Dump is one snapshot of the database, from which all rows can be read. Rows of a table must be read or closed before the
// next call.
type Dump struct{ reader reader }

// Dump calls read with a snapshot.
func (a *Auditor) Dump(ctx context.Context, read func(d Dump) error) error {
	return a.read.view(ctx, nil, func(r reader) error { return read(Dump{r}) })
}

// Tables lists all tables but that of the migrations, in the order in which the migrations have made them.
func (d Dump) Tables() ([]string, error) {
	return tables.List(d.reader, tables.ScanText, `select name from sqlite_schema where type = 'table' and name <> 'schema_migrations' order by rowid`)
}

// Columns lists the columns of a table.
func (d Dump) Columns(table string) ([]string, error) {
	return tables.List(d.reader, tables.ScanText, `select name from pragma_table_info(?)`, table)
}

// Count counts the rows of a table.
func (d Dump) Count(table string) (n int64, err error) {
	_, err = d.reader.Row(`select count(*) from "`+table+`"`, nil, &n)
	return n, err
}

// Rows reads these columns of a table.
func (d Dump) Rows(table string, columns []string) (*sql.Rows, error) {
	return d.reader.query(`select "` + strings.Join(columns, `", "`) + `" from "` + table + `"`)
}

// Audit audits the snapshot.
func (d Dump) Audit(q redpacket.AuditQuery) (redpacket.Audit, error) {
	return audit.Run(snapshot{d.reader}, auditDialect, &q)
}
