// Package enginetest skips tests that need a program which is not part of Go: Redis, Postgres, PgBouncer, a browser or
// promtool. With ENGINES=off in the environment such a test is skipped, and its name is added to the file that
// ENGINES_LEFT_OUT names.
//
// It must always hold: a test that starts such a program calls Need first, directly or through storetest or webtest. Without
// ENGINES=off only Program and Nightly skip tests. So a missing engine fails the tests and cannot pass unnoticed.
//
// Nightly skips tests that belong to a part of make nightly. RaceDetector is for tests that do less when they run slower.
package enginetest

import (
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// RaceDetector reports whether the race detector watches this test. It makes Go code up to ten times slower, so a test may then do less.
func RaceDetector() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// Nightly skips the test unless the variable NIGHTLY lists this part of make nightly or is "all". A test belongs to a part if it takes long, if its
// verdict depends on wall-clock time, or if it needs what few machines have.
func Nightly(tb testing.TB, part string) {
	tb.Helper()
	if !Tonight(part) {
		tb.Skipf("belongs to make nightly: NIGHTLY=%s runs it", part)
	}
}

// Tonight reports whether Nightly lets the tests of this part run.
func Tonight(part string) bool {
	parts := strings.Split(os.Getenv("NIGHTLY"), ",")
	return slices.Contains(parts, part) || slices.Contains(parts, "all")
}

// Need skips the test if ENGINES=off is set. program names what the test needs, for the list of skipped tests.
func Need(tb testing.TB, program string) {
	tb.Helper()
	if !Off() {
		return
	}
	if err := leaveOut(tb.Name(), program); err != nil {
		tb.Fatal(err)
	}
	tb.Skipf("needs %s, and ENGINES=off", program)
}

// Program returns the path of a program that few tests need, such as promtool. If the program is not installed, it skips the
// test and adds the test's name to the list of skipped tests, with or without ENGINES=off.
func Program(tb testing.TB, name string) string {
	tb.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if err := leaveOut(tb.Name(), name); err != nil {
			tb.Fatal(err)
		}
		tb.Skipf("needs %s, which is not installed", name)
	}
	return path
}

// Off reports whether ENGINES=off is set: tests that need engines are skipped.
func Off() bool { return os.Getenv("ENGINES") == "off" }

// leaveOut adds a line to the list of skipped tests.
func leaveOut(test, program string) error {
	name := os.Getenv("ENGINES_LEFT_OUT")
	if name == "" {
		return nil
	}
	list, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644) //nolint:gosec // the caller of make names it
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(list, "%s %s needs %s\n", packagePath(), test, program); err != nil {
		return err
	}
	return list.Close()
}

// packagePath returns the import path of the package under test.
func packagePath() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "?"
	}
	return strings.TrimSuffix(info.Path, ".test")
}
