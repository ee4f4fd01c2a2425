package webpush

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

// closed are networks that are not private by netip.Addr, but no place of a push service either.
var closed = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),       // this network
	netip.MustParsePrefix("100.64.0.0/10"),   // carriers
	netip.MustParsePrefix("192.0.0.0/24"),    // protocols
	netip.MustParsePrefix("192.0.2.0/24"),    // documentation
	netip.MustParsePrefix("198.18.0.0/15"),   // benchmarks
	netip.MustParsePrefix("198.51.100.0/24"), // documentation
	netip.MustParsePrefix("203.0.113.0/24"),  // documentation
	netip.MustParsePrefix("240.0.0.0/4"),     // reserved, and broadcast
	netip.MustParsePrefix("64:ff9b::/96"),    // NAT64: an IPv4 address in it may be private
	netip.MustParsePrefix("64:ff9b:1::/48"),  // local NAT64
	netip.MustParsePrefix("2001::/32"),       // Teredo
	netip.MustParsePrefix("2001:db8::/32"),   // documentation
	netip.MustParsePrefix("2002::/16"),       // 6to4
}

// public reports whether anybody on the Internet may be at the address.
func public(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsGlobalUnicast() && !a.IsPrivate() && !slices.ContainsFunc(closed, func(p netip.Prefix) bool { return p.Contains(a) })
}

// refusePrivate is called with each address before it is connected to.
func refusePrivate(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("push service at %s: %w", address, err)
	}
	if !public(at.Addr()) || at.Port() != 443 {
		return fmt.Errorf("push service at %s is no public address with port 443: allow its host by name if it is yours", address)
	}
	return nil
}

// Bounds of one request.
const (
	requestTimeout = 10 * time.Second
	mostHeader     = 16 << 10
	mostBody       = 4 << 10 // read of an answer, so that the connection can be used again
)

// newTransport returns a transport that connects only to public addresses. allowed are the hosts, with their ports, that may have any
// address.
func newTransport(allowed []string) *http.Transport {
	checked := &net.Dialer{Timeout: requestTimeout, Control: refusePrivate}
	free := &net.Dialer{Timeout: requestTimeout}
	return &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if slices.Contains(allowed, address) {
				return free.DialContext(ctx, network, address)
			}
			return checked.DialContext(ctx, network, address)
		},
		ForceAttemptHTTP2: true, MaxIdleConnsPerHost: perHost, MaxIdleConns: slots, IdleConnTimeout: time.Minute,
		TLSHandshakeTimeout: requestTimeout, MaxResponseHeaderBytes: mostHeader,
	}
}
