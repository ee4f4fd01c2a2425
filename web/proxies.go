package web

import (
	"net/http"
	"net/netip"
	"strings"
)

// proxies are the trusted proxies in front of the server. Their headers about clients are believed; such headers of
// anyone else are ignored, because any client can write them.
type proxies []netip.Prefix

func (p proxies) trusts(a netip.Addr) bool {
	for _, prefix := range p {
		if prefix.Contains(a) {
			return true
		}
	}
	return false
}

// client returns the IP address of the client. It reads X-Forwarded-For from the right and returns the first address
// that is not a trusted proxy. What is left of that address may be forged.
func (p proxies) client(r *http.Request) netip.Addr {
	at := address(r.RemoteAddr)
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && p.trusts(at); i-- {
		next := address(strings.TrimSpace(hops[i]))
		if !next.IsValid() {
			break
		}
		at = next
	}
	return at
}

// host returns the host name that the client used in its request.
func (p proxies) host(r *http.Request) string {
	if p.trusts(address(r.RemoteAddr)) {
		first, _, _ := strings.Cut(r.Header.Get("X-Forwarded-Host"), ",")
		if first = strings.TrimSpace(first); first != "" {
			return first
		}
	}
	return r.Host
}

// address parses an IP address with or without a port. It returns the zero Addr if the text is not an address.
func address(text string) netip.Addr {
	if a, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		return a.Unmap().WithZone("")
	}
	a, _ := netip.ParseAddrPort(text)
	return a.Addr().Unmap().WithZone("")
}

// subnet returns the part of an address that a client cannot change freely: an IPv4 address, or the /64 of an IPv6
// address.
func subnet(a netip.Addr) string {
	if a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.String()
		}
	}
	return a.String()
}
