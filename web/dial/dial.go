// Package dial makes HTTP clients for addresses that users and hosts name. They reach only public addresses, so that no such
// request enters the private network of the server. Host names that the operator allows (Options.Allowed) are the exception. The
// address is checked for each connection, so a host name that later resolves to another address does not evade the check.
package dial

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"syscall"
	"time"
)

// Options of a client. All fields but Allowed and Port are required.
type Options struct {
	// Allowed reports whether the operator allows this host and port, whatever its addresses; nil: none.
	Allowed func(hostPort string) bool
	Port    uint16        // the only port of hosts that are not allowed; 0: any
	Setting string        // name of the setting that lists the allowed hosts, for errors
	Timeout time.Duration // of a connection and of its TLS handshake
	PerHost int           // idle connections to one host that are kept; the limit on all connections to one host is twice that
	Header  int64         // largest size of the header of an answer
}

// NewClient returns a client that reaches only public and allowed addresses, follows no redirect and uses no proxy.
func NewClient(o Options) *http.Client {
	checked := &net.Dialer{Timeout: o.Timeout, Control: o.refusePrivate}
	free := &net.Dialer{Timeout: o.Timeout}
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				if o.Allowed != nil && o.Allowed(address) {
					return free.DialContext(ctx, network, address)
				}
				return checked.DialContext(ctx, network, address)
			},
			ForceAttemptHTTP2: true, TLSHandshakeTimeout: o.Timeout, MaxIdleConnsPerHost: o.PerHost, MaxConnsPerHost: 2 * o.PerHost, MaxIdleConns: 100, IdleConnTimeout: time.Minute,
			MaxResponseHeaderBytes: o.Header,
			// A connection whose other end has vanished is closed. Otherwise HTTP/2 would use it until TCP gives up, which
			// takes minutes.
			HTTP2: &http.HTTP2Config{SendPingTimeout: 3 * time.Second, PingTimeout: 2 * time.Second},
		},
	}
}

// refusePrivate returns an error if the address is not public, or if its port is not Options.Port (0 allows every port). The
// dialer calls it for each address of a host, before it connects.
func (o Options) refusePrivate(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	switch {
	case err != nil:
		return fmt.Errorf("address %q: %w", address, err)
	case !public(at.Addr()):
		return fmt.Errorf("address %s is not public: name the host in %s if it is yours", at.Addr(), o.Setting)
	case o.Port != 0 && at.Port() != o.Port:
		return fmt.Errorf("address %s has not port %d: name the host in %s if it is yours", address, o.Port, o.Setting)
	}
	return nil
}

// special holds networks that are not public, or lead to addresses that are not, and that the methods of netip.Addr do not
// recognise.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"), // NAT64: the addresses contain an IPv4 address
	netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("2001::/32"),
	netip.MustParsePrefix("fec0::/10"), netip.MustParsePrefix("5f00::/16"), netip.MustParsePrefix("192.88.99.0/24"),
	netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("100::/64"), netip.MustParsePrefix("::/96"),
}

// public reports whether the address belongs to the public internet.
func public(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if !a.IsGlobalUnicast() || a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() {
		return false
	}
	return !slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(a) })
}
