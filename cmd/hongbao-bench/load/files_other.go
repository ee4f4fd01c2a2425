//go:build !unix

package load

// openFiles returns false: the limit cannot be read on this system.
func openFiles() (limit uint64, known bool) { return 0, false }
