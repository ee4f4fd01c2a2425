package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	source "go/token"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/web/user/api"
	"hongbao/web/user/auth"
	"hongbao/web/wire"
)

// TestEverySentinelHasACode reads the sources of the domain packages. Each exported error must be in errorTable;
// otherwise clients would receive it as "internal".
func TestEverySentinelHasACode(t *testing.T) {
	table := sentinelsIn(t, "errors.go", func(n ast.Node) (string, bool) {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return "", false
		}
		return fmt.Sprint(sel.X) + "." + sel.Sel.Name, true
	})
	found := 0
	for _, pkg := range []string{"chat", "redpacket"} {
		files, err := filepath.Glob(filepath.Join("..", pkg, "*.go"))
		noError(t, err)
		for _, file := range files {
			for name := range sentinelsIn(t, file, exportedErr) {
				found++
				if !table[pkg+"."+name] {
					t.Errorf("%s.%s is not in errorTable", pkg, name)
				}
			}
		}
	}
	if found < 15 {
		t.Errorf("only %d sentinels found: does this test still read the right files?", found)
	}
}

// TestStoresLetErrorsOfServicesPass checks the type of each error of the services. A store turns an error of another type into
// chat.ErrUnavailable.
func TestStoresLetErrorsOfServicesPass(t *testing.T) {
	others := []error{
		errUnauthorized, auth.ErrInvalid, auth.ErrExpired, api.ErrUnknownCommand, api.ErrDenied, context.Canceled, context.DeadlineExceeded,
	}
	for _, row := range errorTable {
		if other := slices.Contains(others, row.err); chat.IsRequestError(row.err) == other {
			t.Errorf("%v: chat.RequestError %t, want %t", row.err, other, !other)
		}
	}
}

// exportedErr returns the name of a variable whose name begins with Err.
func exportedErr(n ast.Node) (string, bool) {
	spec, ok := n.(*ast.ValueSpec)
	if !ok || !strings.HasPrefix(spec.Names[0].Name, "Err") {
		return "", false
	}
	return spec.Names[0].Name, true
}

func sentinelsIn(t *testing.T, file string, pick func(ast.Node) (string, bool)) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	if strings.HasSuffix(file, "_test.go") {
		return names
	}
	tree, err := parser.ParseFile(source.NewFileSet(), file, nil, 0)
	noError(t, err)
	ast.Inspect(tree, func(n ast.Node) bool {
		if name, ok := pick(n); ok {
			names[name] = true
		}
		return true
	})
	return names
}

func TestFailure(t *testing.T) {
	for _, c := range []struct {
		err       error
		message   string
		temporary bool
	}{
		{chat.ErrMuted, "muted", false},
		{fmt.Errorf("send: %w", chat.ErrNotMember), "not_member", false},
		{chat.BadField("total", "must be at least the count"), "bad_request field=total", false},
		{&chat.FieldError{Err: chat.ErrTooLong, Field: "text", Reason: "4001 characters"}, "too_long field=text", false},
		{&redpacket.CommitmentError{Err: chat.ErrConflict, Next: "abcd"}, "conflict next_commitment=abcd", false},
		{&redpacket.CommitmentError{Err: chat.ErrConflict, Next: "abcd", Packet: "p-1"}, "conflict next_commitment=abcd packet=p-1", false},
		{fmt.Errorf("commit: %w: %w", chat.ErrUnavailable, fs.ErrClosed), "unavailable", true},
		{fmt.Errorf("query: %w", context.DeadlineExceeded), "unavailable", true},
		{api.ErrUnknownCommand, "unknown_command", false},
		{fmt.Errorf("send: %w", &chat.RateError{After: 800 * time.Millisecond}), "rate_limited retry_after_ms=800", true},
		{&chat.RateError{After: 800*time.Millisecond + time.Microsecond}, "rate_limited retry_after_ms=801", true},
		{&chat.RateError{}, "rate_limited retry_after_ms=1", true},
		{chat.ErrRevoked, "unauthorized", false},
		{auth.ErrExpired, "token_expired", false},
	} {
		got := (&errorCodes{log: slog.New(slog.DiscardHandler)}).Failure(c.err)
		if got.Message != c.message || got.Temporary != c.temporary {
			t.Errorf("%v: got %+v, want %s, temporary=%t", c.err, got, c.message, c.temporary)
		}
	}
}

func TestUnknownErrorsAreLoggedWithTheirID(t *testing.T) {
	var logged bytes.Buffer
	got := (&errorCodes{log: slog.New(slog.NewTextHandler(&logged, nil))}).Failure(errors.New("disk on fire"))
	id, ok := strings.CutPrefix(got.Message, "internal id=")
	if !ok || len(id) < 8 || got.Code != wire.CodeInternal || !got.Temporary {
		t.Fatalf("got %+v", got)
	}
	if s := logged.String(); !strings.Contains(s, id) || !strings.Contains(s, "disk on fire") {
		t.Errorf("the log says %s", s)
	}
}

// TestOutagesAreLoggedOnceASecond fails many requests during an outage. Only one line a second may be logged.
func TestOutagesAreLoggedOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logged strings.Builder
		codes := errorCodes{log: slog.New(slog.NewTextHandler(&logged, nil))}
		for range 5 * 1000 {
			codes.Failure(chat.ErrUnavailable)
			time.Sleep(time.Millisecond)
		}
		lines := strings.Count(logged.String(), "\n")
		if lines < 5 || lines > 6 || !strings.Contains(logged.String(), "requests=1000") {
			t.Errorf("%d lines for five seconds:\n%s", lines, logged.String())
		}
	})
}
