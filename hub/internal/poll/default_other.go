//go:build !linux

package poll

// New returns the best poller for this operating system. Outside Linux there is only the portable one, Goroutines.
func New() Poller { return Goroutines{} }

// TryWrite always writes 0 bytes outside Linux. The caller must use a blocking Write.
func TryWrite(uintptr, []byte) (n int) { return 0 }
