package web

import (
	"testing"
	"testing/synctest"

	"hongbao/hub/hubtest"
)

// inBubble runs a test in a bubble of package synctest. The clock of the test and of its servers advances whenever all of them wait, so timeouts
// take no time, and a busy machine changes no verdict. Servers that the test opens listen on pipes in memory: on a TCP socket, goroutines would
// not count as waiting.
func inBubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

// bubbled reports whether the caller runs in a bubble.
func bubbled() bool { return hubtest.Bubbled() }
