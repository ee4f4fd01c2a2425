package report

import "time"

// Latencies are how long each makes one wait: half of the time, one time in a hundred, one in a thousand.
type Latencies struct {
	Rows []Latency
}

// Latency of one. All zero: not measured.
type Latency struct {
	Name           string
	Note           string
	P50, P99, P999 time.Duration
	Ours           bool
}
