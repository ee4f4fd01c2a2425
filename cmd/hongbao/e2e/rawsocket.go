package e2e

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
)

// RawSocket is a connection whose bytes are made by hand.
type RawSocket struct {
	Conn net.Conn
	In   *bufio.Reader // reads from Conn
}

// Send writes bytes. It ignores that the server has closed the connection: what the server has written can still be read.
func (s *RawSocket) Send(b []byte) { _, _ = s.Conn.Write(b) }

// ReadFrame reads one WebSocket frame of the server. head is its first byte.
func (s *RawSocket) ReadFrame() (head byte, payload []byte, err error) {
	var b [8]byte
	if _, err = io.ReadFull(s.In, b[:2]); err != nil {
		return 0, nil, err
	}
	head, size := b[0], uint64(b[1])
	switch size {
	case 126:
		_, err = io.ReadFull(s.In, b[:2])
		size = uint64(binary.BigEndian.Uint16(b[:2]))
	case 127:
		_, err = io.ReadFull(s.In, b[:8])
		size = binary.BigEndian.Uint64(b[:8])
	}
	if err != nil {
		return head, nil, fmt.Errorf("read the length of a frame: %w", err)
	}
	if size > 1<<20 {
		return head, nil, fmt.Errorf("a frame of %d bytes, want at most 1 MiB", size)
	}
	payload = make([]byte, size)
	_, err = io.ReadFull(s.In, payload)
	return head, payload, err
}

// Handshake returns a good WebSocket handshake. Each line replaces the header of its name, or removes it if its value is empty.
func Handshake(lines ...string) string {
	head := []string{
		"Host: localhost", "Connection: Upgrade", "Upgrade: websocket",
		"Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
	}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ":")
		head = slices.DeleteFunc(head, func(old string) bool { return strings.HasPrefix(old, name+":") })
		if value != "" {
			head = append(head, line)
		}
	}
	return "GET /v1/socket HTTP/1.1\r\n" + strings.Join(head, "\r\n") + "\r\n\r\n"
}

// MaskedFrame returns a WebSocket frame of a client. head is its first byte.
func MaskedFrame(head byte, payload string) []byte {
	b := []byte{head}
	switch n := len(payload); {
	case n < 126:
		b = append(b, 0x80|byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, 0x80|126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 0x80|127), uint64(n))
	}
	mask := [4]byte{0x5a, 0x01, 0xff, 0x80}
	b = append(b, mask[:]...)
	for i := range len(payload) {
		b = append(b, payload[i]^mask[i%4])
	}
	return b
}
