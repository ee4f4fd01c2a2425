package hub

import (
	"bufio"
	"net"
	"net/http"
)

// line is a socket as gorilla reads it: first what an ear has heard on it.
type line struct {
	net.Conn
	heard  []byte        // owned by whoever reads
	reader *bufio.Reader // what gorilla reads it through
}

// lineBuffer is the size of a line's reader. The upgrader would take none of less.
const lineBuffer = 288

// Audible makes a response of which the upgraded socket needs no reader of its own: see ears.
func Audible(w http.ResponseWriter) http.ResponseWriter { return audible{w} }

type audible struct{ http.ResponseWriter }

// Hijack implements http.Hijacker.
func (a audible) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffers, err := http.NewResponseController(a.ResponseWriter).Hijack()
	if err != nil || buffers.Reader.Buffered() > 0 { // then the upgrader refuses
		return conn, buffers, err
	}
	l := &line{Conn: conn}
	l.reader = bufio.NewReaderSize(l, lineBuffer)
	buffers.Reader = l.reader
	return l, buffers, nil
}

// Read implements net.Conn.
func (l *line) Read(p []byte) (n int, err error) {
	if len(l.heard) == 0 {
		l.heard = nil
		return l.Conn.Read(p)
	}
	n = copy(p, l.heard)
	l.heard = l.heard[n:]
	return n, nil
}

// silent tells whether nothing is left of what has come.
func (l *line) silent() bool { return len(l.heard) == 0 && l.reader.Buffered() == 0 }
