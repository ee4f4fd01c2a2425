package e2e

import (
	"encoding/json"
	"os"
	"testing"
	"time"
)

// Timed reports whether make nightly runs the tests. Only then may a verdict depend on how long something takes. make test checks what
// happens, on however slow a machine.
func Timed() bool { return os.Getenv("NIGHTLY") != "" }

// Parallel makes a test parallel in make test. In make nightly the test measures how long something takes, and runs alone.
func Parallel(t *testing.T) {
	if !Timed() {
		t.Parallel()
	}
}

// Limit returns the time that something may take: in make test at least two minutes, which only end a run that hangs.
func Limit(limit time.Duration) time.Duration {
	if Timed() {
		return limit
	}
	return max(limit, 2*time.Minute)
}

// MustTake ends the test if make nightly runs it and something took longer than the limit.
func MustTake(t *testing.T, what string, took, limit time.Duration) {
	t.Helper()
	if Timed() && took > limit {
		TooSlow(t, "%s took %v, want at most %v", what, took, limit)
	}
}

// TooSlow ends a test in which something took too long. Perhaps only the machine was busy. So if every test that failed in a part
// of make nightly has this message, the part runs them once more, one at a time. If the test has failed before, the message is
// another one: then something else is wrong.
func TooSlow(t *testing.T, format string, args ...any) {
	t.Helper()
	if t.Failed() {
		t.Fatalf(format, args...)
	}
	t.Fatalf(format+" (too slow, or the machine too busy)", args...)
}

// Eventually waits until the condition holds. If it does not within Limit(within), the test fails. want says in a sentence
// what was expected.
func Eventually(t *testing.T, within time.Duration, want string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	within = Limit(within)
	deadline := time.After(within)
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			TooSlow(t, "not true after %v: %s", within, want)
		}
	}
}

// NoError fails the test if err is not nil.
func NoError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// JSON returns the JSON text of a plain value.
func JSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain types only
	}
	return string(text)
}
