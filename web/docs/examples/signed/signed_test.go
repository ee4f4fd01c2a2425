package signed

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"hongbao/web/host/hostcall"
)

const (
	secret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz"
	other  = "whsec_MTEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz"
)

// TestOnlySignedRequestsAreAnswered sends requests that the server has signed, and others that a stranger made of these.
func TestOnlySignedRequestsAreAnswered(t *testing.T) {
	answered := 0
	host := Handler(secret, func(*struct{}) any { answered++; return nil })
	const body = `{"id":"one"}`
	now := strconv.FormatInt(time.Now().Unix(), 10)
	for _, test := range []struct {
		name    string
		secrets []string
		age     time.Duration
		header  [2]string // changed by the stranger
		body    string
		want    int
	}{
		{"as it was sent", []string{secret}, 0, [2]string{}, body, http.StatusNoContent},
		{"while secrets are rotated", []string{other, secret}, 0, [2]string{}, body, http.StatusNoContent},
		{"sent again within minutes", []string{secret}, 4 * time.Minute, [2]string{}, body, http.StatusNoContent},
		{"replayed later", []string{secret}, 6 * time.Minute, [2]string{}, body, http.StatusUnauthorized},
		{"replayed with a new time", []string{secret}, 6 * time.Minute, [2]string{"Webhook-Timestamp", now}, body, http.StatusUnauthorized},
		{"replayed without a time", []string{secret}, 6 * time.Minute, [2]string{"Webhook-Timestamp", ""}, body, http.StatusUnauthorized},
		{"of the future", []string{secret}, -6 * time.Minute, [2]string{}, body, http.StatusUnauthorized},
		{"of another secret", []string{other}, 0, [2]string{}, body, http.StatusUnauthorized},
		{"under another id", []string{secret}, 0, [2]string{"Webhook-Id", "two"}, body, http.StatusUnauthorized},
		{"without a signature", []string{secret}, 0, [2]string{"Webhook-Signature", ""}, body, http.StatusUnauthorized},
		{"with an empty signature", []string{secret}, 0, [2]string{"Webhook-Signature", "v1,"}, body, http.StatusUnauthorized},
		{"with another body", []string{secret}, 0, [2]string{}, `{"id":"two"}`, http.StatusUnauthorized},
		{"with a longer body", []string{secret}, 0, [2]string{}, body + " ", http.StatusUnauthorized},
	} {
		t.Run(test.name, func(t *testing.T) {
			target, err := hostcall.NewTarget(hostcall.Options{URL: "https://host.example.com/hook", Secrets: test.secrets})
			if err != nil {
				t.Fatal(err)
			}
			r, w := httptest.NewRequest(http.MethodPost, "/hook", strings.NewReader(test.body)), httptest.NewRecorder()
			target.Sign(r.Header, "one", time.Now().Add(-test.age), []byte(body))
			if name, value := test.header[0], test.header[1]; name != "" {
				r.Header.Set(name, value)
			}
			before := answered
			host.ServeHTTP(w, r)
			if got := answered > before; w.Code != test.want || got != (test.want == http.StatusNoContent) {
				t.Errorf("status %d %s, want %d; the host has acted on it: %t", w.Code, w.Body, test.want, got)
			}
		})
	}
}
