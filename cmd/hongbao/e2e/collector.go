package e2e

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Collector receives the spans of servers, as a collector of OpenTelemetry does.
type Collector struct {
	URL string

	mu    sync.Mutex
	spans []Span // guarded by mu
}

// Span is a span that a collector has received. Ids are hex digits.
type Span struct {
	Instance, Service string // of the server
	Name, Kind        string
	Trace, ID, Parent string
	Links             []string // ids of spans
	Attributes        map[string]string
}

// StartCollector starts a collector that takes spans by OTLP over HTTP, and refuses everything else.
func StartCollector(t *testing.T) *Collector {
	c := &Collector{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var received tracepb.TracesData
		if err == nil {
			err = proto.Unmarshal(body, &received)
		}
		if err != nil || r.Method != http.MethodPost || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
			http.Error(w, "not an export of traces", http.StatusBadRequest)
			return
		}
		c.add(&received)
	}))
	t.Cleanup(server.Close)
	c.URL = server.URL
	return c
}

func (c *Collector) add(received *tracepb.TracesData) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, from := range received.ResourceSpans {
		var instance, service string
		for _, a := range from.GetResource().GetAttributes() {
			switch a.Key {
			case "service.instance.id":
				instance = a.GetValue().GetStringValue()
			case "service.name":
				service = a.GetValue().GetStringValue()
			}
		}
		for _, scope := range from.ScopeSpans {
			for _, s := range scope.Spans {
				span := Span{
					Instance: instance, Service: service, Name: s.Name, Kind: s.Kind.String(),
					Trace: hex.EncodeToString(s.TraceId), ID: hex.EncodeToString(s.SpanId), Parent: hex.EncodeToString(s.ParentSpanId),
					Attributes: map[string]string{},
				}
				for _, l := range s.Links {
					span.Links = append(span.Links, hex.EncodeToString(l.SpanId))
				}
				for _, a := range s.Attributes {
					if a.GetValue().GetStringValue() != "" {
						span.Attributes[a.Key] = a.GetValue().GetStringValue()
					} else {
						span.Attributes[a.Key] = strconv.FormatInt(a.GetValue().GetIntValue(), 10)
					}
				}
				c.spans = append(c.spans, span)
			}
		}
	}
}

// Spans returns all spans that have come so far.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans)
}

// Find returns the first span that fits.
func (c *Collector) Find(fits func(Span) bool) (found Span, ok bool) {
	for _, s := range c.Spans() {
		if fits(s) {
			return s, true
		}
	}
	return Span{}, false
}
