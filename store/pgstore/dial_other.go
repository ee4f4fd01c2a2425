//go:build !linux

package pgstore

import "syscall"

// limitUnacknowledged does nothing on kernels without such a limit: keepalives detect a silent connection.
func limitUnacknowledged(_, _ string, _ syscall.RawConn) error { return nil }
