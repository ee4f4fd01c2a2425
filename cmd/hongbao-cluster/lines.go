package main

import (
	"bytes"
	"fmt"
	"io"
	"sync"
)

// lines is where all write, a whole line at a time.
type lines struct {
	mu  sync.Mutex
	out io.Writer
}

// say writes a line of our own. A terminal that is gone is no reason to stop.
func (l *lines) say(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = fmt.Fprintf(l.out, format+"\n", args...)
}

// under is a writer of lines that begin with a name.
func (l *lines) under(name string) io.Writer { return &named{lines: l, name: name} }

// named is used by one goroutine.
type named struct {
	lines *lines
	name  string
	begun []byte // a line without its end
}

// Write implements io.Writer.
func (n *named) Write(p []byte) (int, error) {
	n.begun = append(n.begun, p...)
	for {
		line, rest, whole := bytes.Cut(n.begun, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		n.lines.say("%s | %s", n.name, line)
		n.begun = rest
	}
}
