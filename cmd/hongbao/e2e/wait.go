package e2e

import (
	"encoding/json"
	"testing"
	"time"
)

// TooSlow stands in the message of a test that failed because something took too long. Perhaps only the machine was busy: .ci/test runs
// such a test once more, alone.
const TooSlow = "too slow, or the machine too busy"

// Eventually waits until the condition holds. If it does not within the limit, the test fails. want says in a sentence
// what was expected.
func Eventually(t *testing.T, within time.Duration, want string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(within)
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("not true after %v (%s): %s", within, TooSlow, want)
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
