// Package migrations owns the SQL schemas, as data: numbered files, applied in order, each once, never changed
// after they were released.
package migrations

import "embed"

// SQLite is the embedded engine's schema.
//
//go:embed sqlite/*.sql
var SQLite embed.FS
