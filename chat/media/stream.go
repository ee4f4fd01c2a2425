package media

import (
	"bytes"
	"context"
	"io"
)

// readStep is the most bytes that a decoder gets from one Read. In a hostile JPEG, some 50 bytes are a scan, which is a pass over all pixels. So a
// decoder passes over them about ten times before the context is asked again.
const readStep = 512

// source reads an upload, and fails when the context ends.
type source struct {
	ctx  context.Context
	rest []byte
}

func (s *source) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	if len(s.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), readStep)], s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// sink keeps what an encoder writes, and fails when the context ends.
type sink struct {
	ctx context.Context
	bytes.Buffer
}

func (s *sink) Write(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.Buffer.Write(p)
}
