package web

import (
	"bufio"
	"net"
	"net/http"
)

// readBuffer of a socket. Longer messages take a second read; the upgrader would take none of less than this.
const readBuffer = 288

// hijacker is a response whose connection is taken over with a small buffer to read through, which it knows.
type hijacker struct {
	http.ResponseWriter
	reader *bufio.Reader // valid after Hijack
}

// Hijack implements http.Hijacker.
func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffers, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	if buffers.Reader.Buffered() == 0 { // else the upgrader refuses
		h.reader = bufio.NewReaderSize(conn, readBuffer)
		buffers.Reader = h.reader
	}
	return conn, buffers, nil
}
