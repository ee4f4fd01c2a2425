package web

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// FuzzForwarded sends random X-Forwarded-For headers. A header may count only if a trusted proxy has written it.
// Neither a client nor another proxy may be able to fake an address.
func FuzzForwarded(f *testing.F) {
	ours := prefixes("10.0.0.0/8", "2001:db8:1::/48")
	f.Add("1.2.3.4, 10.9.9.9", "198.51.100.1")
	f.Add("unknown,,[::1%x]:0", "2001:db8:2::7")
	f.Add("::ffff:10.0.0.1", "10.0.0.2")
	f.Fuzz(func(t *testing.T, written, client string) {
		from := func(peer string, lines ...string) string {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.RemoteAddr = peer
			for _, line := range lines {
				r.Header.Add("X-Forwarded-For", line)
			}
			return ours.client(r).String()
		}
		if got := from("203.0.113.5:99", written, client); got != "203.0.113.5" {
			t.Errorf("a stranger is %s", got)
		}
		at := address(client)
		if !at.IsValid() || ours.trusts(at) || strings.ContainsAny(client, ", ") {
			from("10.0.0.1:99", written, client) // any valid address serves the purpose
			return
		}
		if got := from("10.0.0.1:99", written, client); got != at.String() {
			t.Errorf("%s counts as %s because its client wrote %q", at, got, written)
		}
		subnet(at)
	})
}
