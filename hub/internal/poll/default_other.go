//go:build !linux

package poll

// New returns the best poller for this operating system. Outside Linux there is only the portable one, Goroutines.
func New() Poller { return Goroutines{} }
