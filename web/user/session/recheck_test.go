package session

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
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

// TestOutageIsLoggedTwice lets the checks of three users fail for a minute. The first failure must be logged, and the end of the
// last one.
func TestOutageIsLoggedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		began := time.Now()
		r := newRechecks(func(context.Context, string) error {
			if time.Since(began) < time.Minute {
				return errors.New("no answer")
			}
			return nil
		}, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}})))
		r.add("a", "b", "c")
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		r.run(ctx)
		if want := `level=WARN msg="sessions not compared with the store yet, and tried again" user=a err="no answer"
level=INFO msg="sessions compared with the store again"
`; log.String() != want {
			t.Errorf("logged\n%swant\n%s", log.String(), want)
		}
	})
}
