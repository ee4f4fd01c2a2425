package web

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/hub/hubtest"
)

// inBubble runs a test in a bubble of package synctest. The clock of the test and of its servers advances whenever all of them wait, so timeouts
// take no time, and a busy machine changes no verdict. Servers that the test opens listen on pipes in memory: on a TCP socket, goroutines would
// not count as waiting.
func inBubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

// bubbled reports whether the caller runs in a bubble of package synctest. The clocks of bubbles start with the year 2000.
func bubbled() bool { return time.Now().Year() < 2020 }

// listenOnPipe serves clients of h over pipes in memory and returns the address for hubtest.DialPipe.
func listenOnPipe(t *testing.T, h http.Handler) (addr string) {
	t.Helper()
	l := hubtest.ListenOnPipe()
	server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	t.Cleanup(func() {
		_ = server.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return l.Addr().String()
}
