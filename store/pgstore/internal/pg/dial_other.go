//go:build !linux

package pg

import "syscall"

// limitUnacknowledged does nothing on systems other than Linux: keepalives detect a silent connection.
func limitUnacknowledged(_, _ string, _ syscall.RawConn) error { return nil }
