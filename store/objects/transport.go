package objects

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

var (
	errLate    = errors.New("no answer in time")
	errStalled = errors.New("the answer has stopped half-way")
)

// patient is an HTTP transport that gives each step of a request the same time: to connect, to send the next bytes, to receive the headers, to
// receive the next bytes. The caller bounds the sum of all steps.
type patient struct {
	http *http.Transport
	step time.Duration
}

func newPatient(step time.Duration) *patient {
	dialer := &net.Dialer{Timeout: step, KeepAlive: 30 * time.Second}
	return &patient{step: step, http: &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &patientConn{conn, step}, nil
		},
		TLSHandshakeTimeout:   step,
		ResponseHeaderTimeout: step,
		MaxIdleConnsPerHost:   16,
		IdleConnTimeout:       5 * time.Second, // shorter than in any store: a Put cannot be repeated if the store closes its connection
		DisableCompression:    true,            // Get needs the length
	}}
}

// patientConn fails if the other side takes no bytes for a time. A deadline of reads would also end requests whose data comes slowly.
type patientConn struct {
	net.Conn
	step time.Duration
}

func (c *patientConn) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(c.step)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// RoundTrip implements http.RoundTripper.
func (p *patient) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	r = r.WithContext(ctx)
	if r.Body != nil {
		r.Body = &sentBody{body: r.Body}
	}
	response, err := p.http.RoundTrip(r)
	if err != nil {
		cancel(nil)
		return nil, err
	}
	if r.Body != nil && response.StatusCode/100 == 3 {
		_ = r.Body.Close() // for a redirect, http.Client closes the inner body while it may still be read
	}
	response.Body = &patientBody{response.Body, ctx, cancel, p.step}
	return response, nil
}

// sentBody is the body of a request. An HTTP client may close a body while another goroutine reads it. The body of minio-go could panic then, in
// that goroutine.
type sentBody struct {
	mu     sync.Mutex
	body   io.ReadCloser // guarded by mu
	closed bool          // guarded by mu
}

func (b *sentBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return 0, http.ErrBodyReadAfterClose
	}
	return b.body.Read(p)
}

func (b *sentBody) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil
	}
	b.closed = true
	return b.body.Close()
}

// patientBody is the body of a response. A Read fails if no bytes come for a time.
type patientBody struct {
	io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	step   time.Duration
}

func (b *patientBody) Read(p []byte) (int, error) {
	timer := time.AfterFunc(b.step, func() { b.cancel(errStalled) })
	defer timer.Stop()
	n, err := b.ReadCloser.Read(p)
	if cause := context.Cause(b.ctx); cause != nil && err != nil && !errors.Is(err, io.EOF) {
		err = cause
	}
	return n, err
}

func (b *patientBody) Close() error {
	defer b.cancel(nil)
	return b.ReadCloser.Close()
}
