package sqlitestore

import (
	"context"
	"database/sql"
	"strings"

	"hongbao/redpacket"
	"hongbao/store/audit"
	"hongbao/store/tables"
)

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
