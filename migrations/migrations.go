// Package migrations owns the SQL schemas, as data: numbered files, applied in order, each once, never changed
// after they were released. Both engines have the same files: a change of meaning is made in both.
package migrations

import "embed"

// SQLite is the embedded engine's schema.
//
//go:embed sqlite/*.sql
var SQLite embed.FS

// Postgres is the scaled engine's schema.
//
//go:embed postgres/*.sql
var Postgres embed.FS
