// Package webtest drives a real browser for tests: Chromium without a window, from the machine's own packages. It
// owns the browser's process and its tabs. The tests that import it decide what to do on a page and what to expect
// there.
//
// A browser always starts with an empty profile. It ends, and its profile is deleted, when the test that started it
// ends. The browser is found in PATH, or named by TEST_BROWSER; this package downloads nothing.
package webtest
