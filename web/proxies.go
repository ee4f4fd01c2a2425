package web

import (
	"net/http"
	"net/netip"
	"strings"
)

// proxies are those in front of us whose word about their clients is believed. Nobody else's is: anyone can write headers.
type proxies []netip.Prefix

func (p proxies) trusts(a netip.Addr) bool {
	for _, prefix := range p {
		if prefix.Contains(a) {
			return true
		}
	}
	return false
}

// client is the address a request comes from: the last one that was not noted by a proxy of ours about another one of
// ours. What stands to the left of it anybody may have written.
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

// host is what the client calls us.
func (p proxies) host(r *http.Request) string {
	if p.trusts(address(r.RemoteAddr)) {
		first, _, _ := strings.Cut(r.Header.Get("X-Forwarded-Host"), ",")
		if first = strings.TrimSpace(first); first != "" {
			return first
		}
	}
	return r.Host
}

// address reads an address with or without a port; the zero one if it is none.
func address(text string) netip.Addr {
	if a, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		return a.Unmap().WithZone("")
	}
	a, _ := netip.ParseAddrPort(text)
	return a.Addr().Unmap().WithZone("")
}

// neighbourhood is what one person has of addresses: an IPv6 client has as many as he likes.
func neighbourhood(a netip.Addr) string {
	if a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.String()
		}
	}
	return a.String()
}
