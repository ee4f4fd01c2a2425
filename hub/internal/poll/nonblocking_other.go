//go:build !unix

package poll

// TryWrite always writes 0 bytes on this system. The caller must use a blocking Write.
func TryWrite(uintptr, []byte) (n int) { return 0 }
