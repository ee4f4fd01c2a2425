package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"hongbao/chat"
	"hongbao/chat/files"
)

// exact reads the data of a Put. It fails unless data has exactly the announced size. It withholds the last bytes until data has ended, so that a
// store never has all the bytes of data that is too long.
type exact struct {
	ctx  context.Context
	size int64

	mu   sync.Mutex
	data io.Reader // guarded by mu
	left int64     // guarded by mu; bytes that are still to come
	err  error     // guarded by mu; all later reads return it
}

// newExact fails at once if nothing is announced and data has bytes, because a store that expects nothing may read nothing.
func newExact(ctx context.Context, data io.Reader, size int64) (*exact, error) {
	e := &exact{ctx: ctx, size: size, data: data, left: size}
	switch {
	case size < 0:
		e.err = fmt.Errorf("objects: a size of %d bytes: %w", size, chat.ErrUnavailable)
	case size == 0:
		if e.err = e.ended(); e.err == nil {
			e.err = io.EOF
			return e, nil
		}
	default:
		return e, nil
	}
	return nil, e.err
}

func (e *exact) Read(p []byte) (n int, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(p) > 0 && e.err == nil {
		n, e.err = e.read(p)
	}
	return n, e.err
}

func (e *exact) read(p []byte) (int, error) {
	if err := e.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := e.data.Read(p[:min(int64(len(p)), e.left)])
	e.left -= int64(n)
	switch {
	case e.left == 0 && err == nil:
		err = e.ended()
	case e.left == 0 && errors.Is(err, io.EOF):
		err = nil
	case errors.Is(err, io.EOF):
		err = fmt.Errorf("%w: it ends after %d of %d bytes", files.ErrData, e.size-e.left, e.size)
	case err != nil:
		err = fmt.Errorf("%w: after %d of %d bytes: %w", files.ErrData, e.size-e.left, e.size, err)
	default:
		return n, nil
	}
	if err != nil {
		return 0, err
	}
	return n, io.EOF
}

// ended returns an error unless data has no more bytes.
func (e *exact) ended() error {
	switch _, err := io.ReadFull(e.data, make([]byte, 1)); {
	case err == nil:
		return fmt.Errorf("%w: it has more than %d bytes", files.ErrData, e.size)
	case !errors.Is(err, io.EOF):
		return fmt.Errorf("%w: at its end: %w", files.ErrData, err)
	}
	return nil
}

// stop waits for a running Read. Afterwards nothing reads data. It returns the error that data has caused, if any.
func (e *exact) stop() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var caused error
	if errors.Is(e.err, files.ErrData) {
		caused = e.err
	}
	e.err = io.ErrClosedPipe
	return caused
}
