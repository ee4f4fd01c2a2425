package objects

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

var (
	errLate    = errors.New("no answer in time")
	errStalled = errors.New("the answer has stopped half-way")
)

// patient is an HTTP transport that gives each step of a request the same time: to connect, to send the next bytes, to receive the headers, to receive the
// next bytes. How long all steps together take is for the caller to bound.
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
	response, err := p.http.RoundTrip(r.WithContext(ctx))
	if err != nil {
		cancel(nil)
		return nil, err
	}
	response.Body = &patientBody{response.Body, ctx, cancel, p.step}
	return response, nil
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
