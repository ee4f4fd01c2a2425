// Package migrations holds the SQL schemas of both engines as numbered files. Each file is applied once, in order, and never
// changes after its release. Both engines have files of the same names, and each pair means the same. Instances of the old version
// run while a migration is applied and after it, so it only adds. Each file of Postgres is one transaction.
package migrations

import "embed"

// SQLite holds the schema of the embedded engine.
//
//go:embed sqlite/*.sql
var SQLite embed.FS

// Postgres holds the schema of the scaled engine.
//
//go:embed postgres/*.sql
var Postgres embed.FS
