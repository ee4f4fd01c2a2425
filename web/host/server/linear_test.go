package server

import (
	"net/http/httptest"
	"net/url"
	"testing"

	"hongbao/store/enginetest"
	"hongbao/web/host/hostapi"
)

// TestRequestsAreLinear composes, decodes and records long requests. The work must grow in proportion to the request.
func TestRequestsAreLinear(t *testing.T) {
	var operation hostapi.Operation
	for _, o := range hostapi.Operations() {
		if o.Name == "put_users" {
			operation = o
		}
	}
	for name, form := range map[string][2]string{
		"whole": {``, ``}, "string": {`{"name":"`, `"}`}, "object": {`{"custom":{"a":"`, `"}}`}, "list": {`{"users":[`, `]}`}, "name": {`{"`, `":1}`},
	} {
		enginetest.Linear(t, name, func(text string) {
			body := []byte(form[0] + text + form[1])
			if data, err := compose(operation, httptest.NewRequest("PUT", "/", nil), body); err == nil {
				_ = decode(data, new(hostapi.PutUsersRequest))
			}
			recorded("u", body)
		})
	}
	enginetest.Linear(t, "query", func(text string) {
		request := httptest.NewRequest("GET", "/", nil)
		request.URL = &url.URL{Path: "/", RawQuery: text}
		_, _ = compose(operation, request, nil)
	})
}
