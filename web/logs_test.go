package web

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"hongbao/web/wire"
)

// lockedLog holds log lines. It can be read while other goroutines write to it.
type lockedLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// has reports whether a line has all of the words.
func (l *lockedLog) has(words ...string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		found := 0
		for _, word := range words {
			if strings.Contains(line, word) {
				found++
			}
		}
		if found == len(words) {
			return true
		}
	}
	return false
}

// TestCommandsAreLoggedWithTheirRequest runs commands over a socket and over HTTP, at the level DEBUG and at INFO.
func TestCommandsAreLoggedWithTheirRequest(t *testing.T) {
	t.Parallel()
	for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo} {
		var log lockedLog
		engines := newTestEngines(t)
		engines.log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: level}))
		s := engines.open(t, func(o *Options) { o.Alone = true })
		debug := level == slog.LevelDebug

		c, welcome := connected(t, s.listen(t), wire.JSON, "ann")
		rpc[wire.WalletReply](c, 7, "wallet", wire.WalletRequest{})
		if log.has("msg=command", "method=wallet", "code=0", "user=ann", "request="+welcome.Client+"/7") != debug {
			t.Errorf("%v: a line of the command over the socket is there: %t, want %t", level, !debug, debug)
		}
		for given, want := range map[string]string{"trace-1/2": "trace-1/2", "": "", "two\nlines": "", strings.Repeat("x", 129): ""} {
			r := ask(t, s.Handler(), "POST", "/v1/commands/grab", "", "{}", requestIDHeader, given)
			got := r.Header.Get(requestIDHeader)
			if got == "" || want != "" && got != want || want == "" && got == given {
				t.Errorf("request with the id %q is answered with %q, want %q, or another one if that is empty", given, got, want)
			}
			if log.has("msg=command", "method=grab", "code=101", "request="+got) != debug {
				t.Errorf("%v: a line of the request %q is there: %t, want %t", level, got, !debug, debug)
			}
		}
	}
}
