// Package hostcall calls URLs of the host: it signs requests as Standard Webhooks says, and decides which addresses may be dialled.
//
// The following must always hold: no request goes to an address that is not public, unless its host is allowed by name. That is
// checked at each connection, because a name may change its address. No redirect is followed.
package hostcall

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	secretPrefix  = "whsec_"
	minSecretSize = 24
	maxSecretSize = 64
)

// Target is a URL of the host with the secrets that sign its requests.
type Target struct {
	// static
	URL     string
	Client  *http.Client
	secrets [][]byte
}

// Options configures a Target.
type Options struct {
	Name    string // names the target in errors: webhook
	Setting string // names the setting of Allowed in errors
	URL     string
	Secrets []string // one or two
	Allowed []string // hosts that may have an address that is not public, or use http://

	Timeout     time.Duration // of a request with its connection
	Connections int           // most connections
	HeaderBytes int64         // most bytes of an answer's header
}

// NewTarget checks the options and returns the target.
func NewTarget(o Options) (*Target, error) {
	u, err := url.Parse(o.URL)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s URL: %w", o.Name, err)
	case u.Scheme != "https" && u.Scheme != "http", u.Hostname() == "":
		return nil, fmt.Errorf("%s URL %q: want https://host/path", o.Name, u.Redacted())
	case u.User != nil:
		return nil, fmt.Errorf("%s URL: must hold no password, because the requests are signed", o.Name)
	case u.Scheme == "http" && !slices.Contains(o.Allowed, u.Hostname()):
		return nil, fmt.Errorf("%s URL %q: http is only for hosts that are allowed by name", o.Name, u.Redacted())
	}
	t := &Target{URL: o.URL}
	if t.secrets, err = parseSecrets(o.Name, o.Secrets); err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: o.Timeout}
	if !slices.Contains(o.Allowed, u.Hostname()) {
		dialer.Control = func(_, address string, _ syscall.RawConn) error { return refusePrivate(o, address) }
	}
	t.Client = &http.Client{
		Timeout:       o.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext: dialer.DialContext, TLSHandshakeTimeout: o.Timeout, MaxIdleConnsPerHost: o.Connections, MaxConnsPerHost: o.Connections,
			IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: o.HeaderBytes, ForceAttemptHTTP2: true,
		},
	}
	return t, nil
}

func parseSecrets(name string, texts []string) (secrets [][]byte, err error) {
	if len(texts) < 1 || len(texts) > 2 {
		return nil, fmt.Errorf("%s has %d secrets, want one, or two while they are rotated", name, len(texts))
	}
	for i, text := range texts {
		encoded, prefixed := strings.CutPrefix(strings.TrimSpace(text), secretPrefix)
		secret, err := base64.StdEncoding.DecodeString(encoded)
		if !prefixed || err != nil || len(secret) < minSecretSize || len(secret) > maxSecretSize {
			return nil, fmt.Errorf("%s secret %d: want whsec_ and the base64 of %d to %d bytes, such as from: echo whsec_$(openssl rand -base64 32)",
				name, i+1, minSecretSize, maxSecretSize)
		}
		secrets = append(secrets, secret)
	}
	return secrets, nil
}

// Sign adds the headers of a request: what its body is, and one signature for each secret.
func (t *Target) Sign(h http.Header, id string, now time.Time, body []byte) {
	at := strconv.FormatInt(now.Unix(), 10)
	signed := make([]string, len(t.secrets))
	for i, secret := range t.secrets {
		signed[i] = "v1," + base64.StdEncoding.EncodeToString(mac(secret, id, at, body))
	}
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", "hongbao")
	h.Set("Webhook-Id", id)
	h.Set("Webhook-Timestamp", at)
	h.Set("Webhook-Signature", strings.Join(signed, " "))
}

func mac(secret []byte, id, at string, body []byte) []byte {
	m := hmac.New(sha256.New, secret)
	m.Write([]byte(id + "." + at + "."))
	m.Write(body)
	return m.Sum(nil)
}

// errPrivate marks an address that may not be dialled.
var errPrivate = errors.New("is not public")

// refusePrivate refuses connections to addresses that are not public. The dialer calls it for each connection with the address that
// it has found, so a name that changes its address is checked again.
func refusePrivate(o Options, address string) error {
	a, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%s address %q: %w", o.Name, address, err)
	}
	if !public(a.Addr()) {
		return fmt.Errorf("%s address %s %w: name the host in %s if it is yours", o.Name, a.Addr(), errPrivate, o.Setting)
	}
	return nil
}

// special holds the networks that netip does not name, and that lead to other hosts than public ones.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"), // hold an IPv4 address
	netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("2001::/32"),
	netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("100::/64"), netip.MustParsePrefix("::/96"),
}

// public reports whether the address belongs to a host in the internet.
func public(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if !a.IsGlobalUnicast() || a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() {
		return false
	}
	return !slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(a) })
}
