//go:build !linux

package enginetest

import "time"

var began = time.Now()

// threadTime returns the time since the start of the program: this system does not count the processor time of a thread.
func threadTime() time.Duration { return time.Since(began) }
