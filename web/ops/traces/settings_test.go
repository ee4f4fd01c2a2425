package traces

import (
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
)

func TestTracesAreOffWithoutSettings(t *testing.T) {
	for _, environ := range [][]string{
		nil,
		{"OTEL_SERVICE_NAME=chat", "OTEL_TRACES_SAMPLER=nonsense"}, // meant for other programs
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318", "OTEL_TRACES_EXPORTER=none"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318", "OTEL_SDK_DISABLED=TRUE"},
	} {
		if s, err := Read(environ); err != nil || s.On() {
			t.Errorf("%v: on: %t, %v; want off", environ, s.On(), err)
		}
	}
}

func TestSettingsAreRead(t *testing.T) {
	s, err := Read([]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT=https://user:pass@collector:4318/base", "OTEL_EXPORTER_OTLP_HEADERS=api-key=a%3Db, x-two = 2", "OTEL_EXPORTER_OTLP_TIMEOUT=700",
		"OTEL_EXPORTER_OTLP_COMPRESSION=gzip", "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf", "OTEL_SERVICE_NAME=chat", "OTEL_RESOURCE_ATTRIBUTES=deployment.environment=test",
		"OTEL_TRACES_SAMPLER=parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG=0.25", "OTEL_BSP_MAX_QUEUE_SIZE=7", "OTEL_BSP_SCHEDULE_DELAY=50",
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.endpoint != "https://user:pass@collector:4318/base/v1/traces" || strings.Contains(s.Endpoint(), "pass") {
		t.Errorf("the endpoint is %q, shown as %q; want the path of traces added, and no password shown", s.endpoint, s.Endpoint())
	}
	if s.headers["api-key"] != "a=b" || s.headers["x-two"] != "2" || s.timeout != 700*time.Millisecond || !s.compress || s.queue != 7 || s.delay != 50*time.Millisecond {
		t.Errorf("the settings are %+v", s)
	}
	if got := s.sampler.Description(); !strings.Contains(got, "TraceIDRatioBased{0.25}") || !strings.HasPrefix(got, "ParentBased") {
		t.Errorf("the sampler is %s, want a quarter of the traces, or as the parent says", got)
	}
	set := attribute.NewSet(s.attributes...)
	if name, _ := set.Value("service.name"); name.AsString() != "chat" {
		t.Errorf("the service is %q, want chat", name.AsString())
	}
	if s, err := Read([]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://c:4318/own", "OTEL_EXPORTER_OTLP_ENDPOINT=http://other:4318"}); err != nil || s.endpoint != "http://c:4318/own" {
		t.Errorf("the endpoint of traces is %q, %v; want it as it is given", s.endpoint, err)
	}
	if s, err := Read([]string{"OTEL_TRACES_EXPORTER=otlp"}); err != nil || s.endpoint != "http://localhost:4318/v1/traces" {
		t.Errorf("the default endpoint is %q, %v", s.endpoint, err)
	}
}

// TestInvalidSettingsAreNamed gives one invalid setting at a time. The error must name it, and never show a value that may be secret.
func TestInvalidSettingsAreNamed(t *testing.T) {
	for setting, want := range map[string]string{
		"OTEL_TRACES_EXPORTER=zipkin":                   `"zipkin" is none of otlp, none`,
		"OTEL_EXPORTER_OTLP_ENDPOINT=collector:4317":    "is not a URL such as",
		"OTEL_EXPORTER_OTLP_ENDPOINT=grpc://u:geheim@c": "is not a URL such as",
		"OTEL_EXPORTER_OTLP_PROTOCOL=grpc":              "use http/protobuf",
		"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/json":  "use http/protobuf",
		"OTEL_EXPORTER_OTLP_TIMEOUT=5s":                 `"5s" is not a whole number`,
		"OTEL_EXPORTER_OTLP_TIMEOUT=0":                  "from 1 to",
		"OTEL_EXPORTER_OTLP_COMPRESSION=zstd":           "none of none, gzip",
		"OTEL_EXPORTER_OTLP_HEADERS=geheim":             "key=value",
		"OTEL_EXPORTER_OTLP_TRACES_HEADERS=a b=geheim":  "no HTTP header can have",
		"OTEL_EXPORTER_OTLP_HEADERS=a=geheim%0d":        "no HTTP header can have",
		"OTEL_EXPORTER_OTLP_HEADERS=a=geheim%zz":        "percent-encoded",
		"OTEL_EXPORTER_OTLP_CERTIFICATE=/none":          "no such file",
		"OTEL_EXPORTER_OTLP_CERTIFICATE=settings.go":    "has no certificate",
		"OTEL_EXPORTER_OTLP_CLIENT_KEY=k":               "is not supported",
		"OTEL_TRACES_SAMPLER=jaeger_remote":             "is none of always_on",
		"OTEL_TRACES_SAMPLER_ARG=2":                     "from 0 to 1",
		"OTEL_TRACES_SAMPLER_ARG=NaN":                   "from 0 to 1",
		"OTEL_BSP_MAX_QUEUE_SIZE=-1":                    "from 1 to",
		"OTEL_BSP_SCHEDULE_DELAY=soon":                  "is not a whole number",
		"OTEL_RESOURCE_ATTRIBUTES=a":                    "key=value",
	} {
		name, _, _ := strings.Cut(setting, "=")
		_, err := Read([]string{"OTEL_TRACES_EXPORTER=otlp", "OTEL_TRACES_SAMPLER=traceidratio", setting})
		if err == nil || !strings.HasPrefix(err.Error(), name+": ") || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: error %v, want one that names the setting and says %q", setting, err, want)
		}
	}
}
