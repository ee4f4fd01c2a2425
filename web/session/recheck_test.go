package session

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestRechecksDoNotPileUp reports several losses. Each user must be checked once. A user whose check fails must be
// checked again, after the others.
func TestRechecksDoNotPileUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var checked []string
		r := newRechecks(func(_ context.Context, user string) error {
			checked = append(checked, user)
			if user == "a" && len(checked) == 1 {
				return errors.New("no answer")
			}
			return nil
		}, slog.New(slog.DiscardHandler))
		for range 300 {
			r.add("a", "b")
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		r.run(ctx)
		if want := []string{"a", "b", "a"}; !slices.Equal(checked, want) {
			t.Errorf("checked %v, want %v", checked, want)
		}
	})
}
