package admission

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"
)

// endedWriter records that its connection was ended.
type endedWriter struct {
	http.ResponseWriter
	name  string
	ended *[]string
}

// SetWriteDeadline is what http.ResponseController calls.
func (w endedWriter) SetWriteDeadline(at time.Time) error {
	if !at.After(time.Now()) {
		*w.ended = append(*w.ended, w.name)
	}
	return nil
}

// TestUnreadRepliesOverHTTPEndByUser lets replies of two users wait until they use more than their bound. The oldest one of the user
// with the most bytes must end, and what is released must not count any more.
func TestUnreadRepliesOverHTTPEndByUser(t *testing.T) {
	var counted int64
	var ended []string
	h := NewReplies(100<<10, func(n int) { counted += int64(n) })
	hold := func(user, name string, bytes int) (release func()) {
		return h.Hold(user, bytes, endedWriter{httptest.NewRecorder(), name, &ended})
	}
	hold("ann", "short", shortReply)
	releaseBob := hold("bob", "bob 1", 40<<10)
	releaseAnn := hold("ann", "ann 1", 30<<10)
	hold("ann", "ann 2", 20<<10)
	if len(ended) != 0 || counted != 90<<10 {
		t.Fatalf("ended %q with %d bytes counted, want none and %d", ended, counted, 90<<10)
	}
	hold("cem", "cem 1", 20<<10)
	if want := []string{"ann 1"}; !slices.Equal(ended, want) || counted != 80<<10 {
		t.Errorf("ended %q with %d bytes counted, want %q and %d", ended, counted, want, 80<<10)
	}
	releaseAnn() // it was ended before
	releaseBob()
	hold("dee", "dee 1", 60<<10)
	if want := []string{"ann 1"}; !slices.Equal(ended, want) || counted != 100<<10 || h.Endings() != 1 {
		t.Errorf("ended %q (%d) with %d bytes counted, want %q and %d", ended, h.Endings(), counted, want, 100<<10)
	}
}
