package main

import (
	"bytes"
	"fmt"
	"io"
	"sync"
)

// lines is an output that several goroutines share. It writes whole lines.
type lines struct {
	mu  sync.Mutex
	out io.Writer
}

// say writes a line. It ignores failures: when the terminal is gone, the cluster must still stop in order.
func (l *lines) say(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = fmt.Fprintf(l.out, format+"\n", args...)
}

// under returns a writer that puts the name in front of each line.
func (l *lines) under(name string) io.Writer { return &named{lines: l, name: name} }

// named is a writer for one goroutine.
type named struct {
	lines   *lines
	name    string
	partial []byte // a line whose end has not come
}

// Write implements io.Writer.
func (n *named) Write(p []byte) (int, error) {
	n.partial = append(n.partial, p...)
	for {
		line, rest, whole := bytes.Cut(n.partial, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		n.lines.say("%s | %s", n.name, line)
		n.partial = rest
	}
}
