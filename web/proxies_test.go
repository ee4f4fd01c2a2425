package web

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"hongbao/web/wire"
)

// post makes one POST request that comes from the given address. pairs are names and values of headers.
func post(h http.Handler, from, path, body string, pairs ...string) *http.Response {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.RemoteAddr = from
	for i := 0; i+1 < len(pairs); i += 2 {
		r.Header.Add(pairs[i], pairs[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func prefixes(list ...string) (p proxies) {
	for _, text := range list {
		p = append(p, netip.MustParsePrefix(text))
	}
	return p
}

// TestClientBehindProxies sends forged and real headers. Only what a trusted proxy has written may be believed, and
// only for the address that connected to that proxy.
func TestClientBehindProxies(t *testing.T) {
	ours := prefixes("10.0.0.0/8", "2001:db8:1::/48", "192.0.2.1/32")
	for _, c := range []struct {
		name, peer string
		forwarded  []string
		want       string
	}{
		{"no proxy", "203.0.113.5:99", nil, "203.0.113.5"},
		{"spoofed", "203.0.113.5:99", []string{"198.51.100.1"}, "203.0.113.5"},
		{"one proxy", "10.0.0.1:99", []string{"198.51.100.1"}, "198.51.100.1"},
		{"spoofed before the proxy", "10.0.0.1:99", []string{"1.2.3.4, 198.51.100.1"}, "198.51.100.1"},
		{"spoofed as one of ours", "10.0.0.1:99", []string{"1.2.3.4, 10.9.9.9, 198.51.100.1"}, "198.51.100.1"},
		{"two proxies", "10.0.0.1:99", []string{"198.51.100.1, 192.0.2.1"}, "198.51.100.1"},
		{"two lines", "10.0.0.1:99", []string{"1.2.3.4", "198.51.100.1, 10.0.0.2"}, "198.51.100.1"},
		{"all ours", "10.0.0.1:99", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		{"proxy itself", "10.0.0.1:99", nil, "10.0.0.1"},
		{"nonsense", "10.0.0.1:99", []string{"198.51.100.1, unknown"}, "10.0.0.1"},
		{"nonsense behind", "10.0.0.1:99", []string{"198.51.100.1, unknown, 10.0.0.2"}, "10.0.0.2"},
		{"with ports", "10.0.0.1:99", []string{"198.51.100.1:4711, [2001:db8:1::5]:80"}, "198.51.100.1"},
		{"IPv6", "[2001:db8:1::1]:99", []string{"2001:db8:2::7"}, "2001:db8:2::7"},
		{"IPv4 in IPv6", "[::ffff:10.0.0.1]:99", []string{"::ffff:198.51.100.1"}, "198.51.100.1"},
		{"a zone is no way around", "[fe80::1%eth0]:99", []string{"198.51.100.1"}, "fe80::1"},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = c.peer
		for _, line := range c.forwarded {
			r.Header.Add("X-Forwarded-For", line)
		}
		if got := ours.client(r); got.String() != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestRateOfGuestsBehindProxies creates guests through proxies. The limit must apply to the client's address; all
// addresses of an IPv6 /64 count as one client.
func TestRateOfGuestsBehindProxies(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, limited(), func(o *Options) {
		o.Guests, o.TrustedProxies = Guests{Key: testGuestKey}, prefixes("10.0.0.0/8")
	})
	h := s.Handler()
	from := func(peer, forwarded string) int { // the request is refused for another reason, but it counts
		return post(h, peer, "/v1/guests", `{}`, "X-Forwarded-For", forwarded).StatusCode
	}
	exhaust := func(peer, forwarded string) {
		for i := 0; from(peer, forwarded) != 429; i++ {
			if i == 1000 {
				t.Fatalf("%s for %s is never refused", peer, forwarded)
			}
		}
	}
	for _, c := range []struct {
		name, peer, forwarded string
		refused               bool
	}{
		{"the same network by another proxy", "10.0.0.2:9", "2001:db8::2", true},
		{"the same with something in front", "10.0.0.1:9", "9.9.9.9, 2001:db8::3", true},
		{"another network", "10.0.0.1:9", "2001:db8:0:1::1", false},
		{"who only says that he is another", "203.0.113.5:9", "198.51.100.2", true},
		{"the other", "10.0.0.1:9", "198.51.100.2", false},
	} {
		var got int
		for range 5 { // on a slow machine a token may be available again
			exhaust("10.0.0.1:9", "2001:db8::1")
			exhaust("203.0.113.5:9", "198.51.100.1")
			if got = from(c.peer, c.forwarded); got == 429 {
				break
			}
		}
		if (got == 429) != c.refused {
			t.Errorf("%s: %d", c.name, got)
		}
	}
}

// TestOriginBehindProxies sends a header with the host that the browser used. It must be believed from a trusted proxy
// only.
func TestOriginBehindProxies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		trusted []string
		status  int
	}{{"trusted", []string{"127.0.0.0/8", "::1/128"}, 101}, {"anybody", nil, 403}} {
		addr := newTestServer(t, func(o *Options) { o.TrustedProxies = prefixes(c.trusted...) }).listen(t)
		ws, r, _ := tryDial(addr, wire.JSON, http.Header{"Origin": {"https://chat.example.com"}, "X-Forwarded-Host": {"chat.example.com, inner"}})
		if r == nil || r.StatusCode != c.status {
			t.Errorf("%s: %v", c.name, r)
		}
		if ws != nil {
			_ = ws.Close()
		}
		ws, r, _ = tryDial(addr, wire.JSON, http.Header{"Origin": {"https://evil.example.com"}, "X-Forwarded-Host": {"chat.example.com"}})
		if ws != nil || r == nil || r.StatusCode != 403 {
			t.Errorf("%s: another page: %v", c.name, r)
		}
	}
}

// TestProxyHoldsNoConnections asks whose connection it is. A trusted proxy must be nobody, and the addresses of a /64 must be one.
func TestProxyHoldsNoConnections(t *testing.T) {
	ours := prefixes("10.0.0.0/8")
	for from, want := range map[string]string{
		"10.1.2.3:99": "", "203.0.113.5:99": "203.0.113.5", "[2001:db8:1::7]:99": "2001:db8:1::/64", "[2001:db8:1::8]:99": "2001:db8:1::/64", "[::ffff:10.0.0.1]:99": "",
	} {
		if got := ours.holder(tcpAddress(from)); got != want {
			t.Errorf("a connection from %s is held by %q, want %q", from, got, want)
		}
	}
}

// tcpAddress is the address of the other end of a connection.
type tcpAddress string

func (a tcpAddress) Network() string { return "tcp" }
func (a tcpAddress) String() string  { return string(a) }
