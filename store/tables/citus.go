package tables

import "strings"

// Statements are written for a database on one node. On Citus, which is Postgres on several nodes, some tables are
// split over workers, and Citus cannot run most joins with them. What only Citus needs stands in a statement as a comment
// that begins with an exclamation mark, for example /*! and bucket = bucket_of($1) */, and what Citus must not have
// stands between /*one*/ and /*end*/. For Citus, package pgstore makes text of the former and leaves out the latter.
// All other databases take these marks for comments.

// FirstOnCitus returns the beginning of a statement. On Citus it reads from the split tables what the rest of the
// statement uses; on other databases it does nothing. Each part is one that Of returns, or another common table
// expression.
func FirstOnCitus(parts ...string) string { return `/*! with ` + strings.Join(parts, ", ") + ` */ ` }

// Of returns a part for FirstOnCitus: it reads the rows of the table that meet the condition, and gives them the name. The
// table may have an alias. The condition may end with an order and a limit.
func Of(name, table, condition string) string {
	return name + ` as materialized (select * from ` + table + ` where ` + condition + `)` //nolint:unqueryvet // it stands for the table
}

// Named returns what to select from: the table itself or, on Citus, the rows that a part of FirstOnCitus has read under
// the name.
func Named(table, name string) string { return `/*one*/ ` + table + ` /*end*/ /*! ` + name + ` */` }
