package dial

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func TestPublicAddresses(t *testing.T) {
	for _, address := range []string{
		"127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "::1", "fe80::1%eth0", "fd00::1", "::",
		"::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:100.64.0.1", "64:ff9b::a00:1", "2002:a00:1::", "::10.0.0.1", "224.0.0.1", "fec0::1", "192.88.99.1", "255.255.255.255",
	} {
		if public(netip.MustParseAddr(address)) {
			t.Errorf("%s counts as public", address)
		}
	}
	for _, address := range []string{"8.8.8.8", "2606:4700::1111"} {
		if !public(netip.MustParseAddr(address)) {
			t.Errorf("%s does not count as public", address)
		}
	}
	only := Options{Port: 443}
	if only.refusePrivate("tcp", "8.8.8.8:443", nil) != nil || only.refusePrivate("tcp", "8.8.8.8:22", nil) == nil || (Options{}).refusePrivate("tcp", "8.8.8.8:22", nil) != nil {
		t.Error("of a public address, the named port alone must be reached, or any if none is named")
	}
}

// TestClientReachesOnlyAllowedHosts has a server on a loopback address. It must be reached only if its host is allowed, and its redirect to another
// such server never.
func TestClientReachesOnlyAllowedHosts(t *testing.T) {
	inner := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	defer inner.Close()
	server := httptest.NewServer(http.RedirectHandler(inner.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	allowed := false
	client := NewClient(Options{Allowed: func(string) bool { return allowed }, Setting: "HONGBAO_X", Timeout: time.Minute, PerHost: 1, Header: 1 << 10})
	get := func(url string) error {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(r)
		if err == nil {
			_ = answer.Body.Close()
		}
		return err
	}
	for _, url := range []string{server.URL, strings.Replace(server.URL, "127.0.0.1", "localhost", 1)} {
		if err := get(url); err == nil || !strings.Contains(err.Error(), "HONGBAO_X") {
			t.Errorf("%s: %v", url, err)
		}
	}
	allowed = true
	if err := get(server.URL); err != nil {
		t.Error(err)
	}
}
