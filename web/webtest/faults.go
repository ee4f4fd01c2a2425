package webtest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
)

// faults collects the faults of a page: errors and warnings in its console, uncaught exceptions, and errors and warnings of the
// browser itself, such as a request blocked by the page's Content-Security-Policy.
type faults struct {
	mu       sync.Mutex
	found    []string
	expected []string
}

// newFaults returns an empty collection. When the test ends, each fault in it that was not expected fails the test.
func newFaults(tb testing.TB) *faults {
	f := &faults{}
	tb.Cleanup(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, fault := range f.found {
			if !slices.ContainsFunc(f.expected, func(part string) bool { return strings.Contains(fault, part) }) {
				tb.Errorf("on the page: %s", fault)
			}
		}
	})
	return f
}

func (f *faults) expect(part string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.expected = append(f.expected, part)
}

// note adds the fault that a browser event reports, if any.
func (f *faults) note(event any) {
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning || e.Type == runtime.ConsoleAPICalledTypeAssert {
			f.add("console: %s", words(e.Args))
		}
	case *runtime.EventExceptionThrown:
		description := ""
		if e.ExceptionDetails.Exception != nil {
			description = e.ExceptionDetails.Exception.Description
		}
		f.add("exception: %s %s", e.ExceptionDetails.Text, description)
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			f.add("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL)
		}
	}
}

func (f *faults) add(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.found = append(f.found, fmt.Sprintf(format, args...))
}

func words(args []*runtime.RemoteObject) string {
	var all []string
	for _, a := range args {
		if a.Description != "" {
			all = append(all, a.Description)
		} else {
			all = append(all, string(a.Value))
		}
	}
	return strings.Join(all, " ")
}
