package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
)

// newKeyClient fetches keys.
func newKeyClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableKeepAlives = true // it is seldom asked
	transport.MaxResponseHeaderBytes = 64 << 10
	return &http.Client{Transport: transport, CheckRedirect: checkRedirect}
}

// fetchable tells whether keys from there are the host's: nobody else could have written them.
func fetchable(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	local := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	return u.Host != "" && (u.Scheme == "https" || u.Scheme == "http" && local)
}

// checkRedirect lets nobody lead us from https to less.
func checkRedirect(r *http.Request, via []*http.Request) error {
	switch {
	case len(via) > 5:
		return errors.New("too many redirects")
	case r.URL.Scheme != "https" && via[0].URL.Scheme == "https", !fetchable(r.URL):
		return fmt.Errorf("redirected to %s", r.URL.Redacted())
	}
	return nil
}

// read fetches the set.
func (j *jwks) read() (*keySet, error) {
	ctx, cancel := context.WithTimeout(j.ctx, jwksTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, j.url, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/jwk-set+json, application/json")
	answer, err := j.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("answered %s", answer.Status)
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, jwksBytes+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > jwksBytes:
		return nil, errors.New("is over 1 MiB")
	}
	return parseKeySet(text)
}
