package auth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
)

// newKeyClient returns the HTTP client that fetches key sets.
func newKeyClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableKeepAlives = true // minutes pass between requests
	transport.MaxResponseHeaderBytes = 64 << 10
	return &http.Client{Transport: transport, CheckRedirect: checkRedirect}
}

// fetchable reports whether a URL is safe to fetch keys from: it is HTTPS, or on this machine. Over plain HTTP, others
// could replace the keys.
func fetchable(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	local := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	return u.Host != "" && (u.Scheme == "https" || u.Scheme == "http" && local)
}

// checkRedirect refuses a redirect from HTTPS to plain HTTP, and a redirect to any URL that is not fetchable.
func checkRedirect(r *http.Request, via []*http.Request) error {
	switch {
	case len(via) > 5:
		return errors.New("more than 5 redirects")
	case r.URL.Scheme != "https" && via[0].URL.Scheme == "https", !fetchable(r.URL):
		return fmt.Errorf("redirect to %s is not allowed", r.URL.Redacted())
	}
	return nil
}

// read fetches and parses the key set.
func (k *remoteKeys) read() (*keySet, error) {
	ctx, cancel := context.WithTimeout(k.ctx, fetchTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, k.url, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/jwk-set+json, application/json")
	response, err := k.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("response status %s, want 200", response.Status)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxKeySetBytes+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxKeySetBytes:
		return nil, errors.New("response is larger than 1 MiB")
	}
	return parseKeySet(text)
}
