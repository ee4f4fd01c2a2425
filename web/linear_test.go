package web

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"hongbao/store/enginetest"
)

// TestHeadersAreLinear reads long headers. The work must grow in proportion to the header.
func TestHeadersAreLinear(t *testing.T) {
	ours := prefixes("10.0.0.0/8")
	for _, header := range []string{"X-Forwarded-For", "X-Forwarded-Host", "Origin", requestIDHeader, "Authorization"} {
		enginetest.Linear(t, header, func(text string) {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.RemoteAddr = "10.0.0.1:99"
			r.Header.Set(header, "10.0.0.2,"+text)
			ours.client(r)
			ours.host(r)
			newOrigins([]string{"https://a.example"}, ours).allowed(r)
			requestID(r)
		})
	}
}
