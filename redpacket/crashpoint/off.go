//go:build !crashpoints

package crashpoint

import "time"

// Now returns the time in an ordinary build.
func Now() time.Time { return time.Now() }

// Here does nothing in an ordinary build.
func Here(string) {}

// Lost always returns false in an ordinary build.
func Lost(string) bool { return false }

// Variables returns no names: an ordinary build reads no environment variable of this package.
func Variables() []string { return nil }
