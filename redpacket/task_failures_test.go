package redpacket

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

// TestOutageIsLoggedOnce lets a task fail five times in a row and then succeed. Only the first failure and the success
// may be logged.
func TestOutageIsLoggedOnce(t *testing.T) {
	var log bytes.Buffer
	s := &Service{o: Options{Log: slog.New(slog.NewTextHandler(&log, nil))}}
	for range 2 {
		s.recordTask("sweep", &s.counts.sweep, nil)
		for range 5 {
			s.recordTask("sweep", &s.counts.sweep, errors.New("no Redis"))
		}
		s.recordTask("sweep", &s.counts.sweep, nil)
	}
	if n := strings.Count(log.String(), "\n"); n != 4 || strings.Count(log.String(), "no Redis") != 2 || s.counts.sweep.failures.Load() != 10 {
		t.Errorf("%d failures, %d lines:\n%s", s.counts.sweep.failures.Load(), n, &log)
	}
}
