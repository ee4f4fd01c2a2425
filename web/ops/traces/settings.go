package traces

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"crypto/x509"

	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// Settings says whether and where spans are sent. The zero value sends none.
type Settings struct {
	endpoint   string // URL; "": traces are off
	headers    map[string]string
	timeout    time.Duration // of one request
	compress   bool
	roots      *x509.CertPool // nil: those of the system
	sampler    sdk.Sampler
	attributes []attribute.KeyValue // of this process

	queue, batch  int // spans
	delay, export time.Duration
}

// On reports whether spans are sent.
func (s Settings) On() bool { return s.endpoint != "" }

// Endpoint returns where spans are sent, without a password.
func (s Settings) Endpoint() string {
	u, err := url.Parse(s.endpoint)
	if err != nil {
		return ""
	}
	return u.Redacted()
}

// reader reads settings and keeps the first error.
type reader struct {
	environ map[string]string
	err     error
}

// unsupported are the settings of OpenTelemetry about traces that Read refuses. If Read ignored them, the operator would
// believe that they work.
var unsupported = []string{
	"OTEL_EXPORTER_OTLP_CLIENT_KEY", "OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY", "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE",
	"OTEL_CONFIG_FILE", "OTEL_EXPERIMENTAL_CONFIG_FILE",
}

// Read reads the settings from an environment of "NAME=value". An error names the setting and what to do. Traces are on if an
// endpoint is set, or OTEL_TRACES_EXPORTER=otlp. OTEL_TRACES_EXPORTER=none and OTEL_SDK_DISABLED=true turn them off.
func Read(environ []string) (Settings, error) {
	r := reader{environ: map[string]string{}}
	for _, pair := range environ {
		if name, value, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "OTEL_") {
			r.environ[name] = strings.TrimSpace(value)
		}
	}
	exporter := r.word("OTEL_TRACES_EXPORTER", "", "", "otlp", "none")
	disabled := strings.EqualFold(r.environ["OTEL_SDK_DISABLED"], "true")
	_, endpoint := r.otlp("ENDPOINT")
	if r.err != nil || disabled || exporter == "none" || exporter == "" && endpoint == "" {
		return Settings{}, r.err
	}
	for _, name := range unsupported {
		if r.environ[name] != "" {
			r.fail(name, "is not supported: unset it")
		}
	}
	name, protocol := r.otlp("PROTOCOL")
	if !slices.Contains([]string{"", "http/protobuf"}, protocol) {
		r.fail(name, "%q is not supported: use http/protobuf, which collectors accept at port 4318", protocol)
	}
	s := Settings{
		endpoint: r.endpoint(),
		headers:  r.headers(),
		timeout:  r.millis(r.otlpName("TIMEOUT"), 10*time.Second),
		compress: r.word(r.otlpName("COMPRESSION"), "none", "none", "gzip") == "gzip",
		roots:    r.roots(),
		sampler:  r.sampler(),
		queue:    r.count("OTEL_BSP_MAX_QUEUE_SIZE", 2048, 1_000_000),
		batch:    r.count("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512, 100_000),
		delay:    r.millis("OTEL_BSP_SCHEDULE_DELAY", 5*time.Second),
		export:   r.millis("OTEL_BSP_EXPORT_TIMEOUT", 30*time.Second),
	}
	s.attributes = append(s.attributes, attribute.String("service.name", "hongbao"))
	for key, value := range r.pairs("OTEL_RESOURCE_ATTRIBUTES") {
		s.attributes = append(s.attributes, attribute.String(key, value))
	}
	if service := r.environ["OTEL_SERVICE_NAME"]; service != "" {
		s.attributes = append(s.attributes, attribute.String("service.name", service))
	}
	if r.err != nil {
		return Settings{}, r.err
	}
	return s, nil
}

func (r *reader) fail(name, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%s: "+format, append([]any{name}, args...)...)
	}
}

// otlpName returns the name of the exporter's setting that applies: the one for traces if it is set, else the one for all
// signals.
func (r *reader) otlpName(setting string) string {
	if own := "OTEL_EXPORTER_OTLP_TRACES_" + setting; r.environ[own] != "" {
		return own
	}
	return "OTEL_EXPORTER_OTLP_" + setting
}

func (r *reader) otlp(setting string) (name, value string) {
	name = r.otlpName(setting)
	return name, r.environ[name]
}

// endpoint returns the URL of the collector. A URL for traces is used unchanged. A URL for all signals gets the path v1/traces.
func (r *reader) endpoint() string {
	name, value := r.otlp("ENDPOINT")
	if value == "" {
		value = "http://localhost:4318"
	}
	u, err := url.Parse(value)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		r.fail(name, "is not a URL such as http://collector:4318") // the value may have a password
		return ""
	}
	if name == "OTEL_EXPORTER_OTLP_ENDPOINT" {
		u = u.JoinPath("v1", "traces")
	}
	return u.String()
}

// word returns a setting in lower case. It must be one of the words, in any letter case. If it is not set, word returns fallback.
func (r *reader) word(name, fallback string, words ...string) string {
	value := strings.ToLower(r.environ[name])
	if value == "" {
		return fallback
	}
	if !slices.Contains(words, value) {
		known := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "" })
		r.fail(name, "%q is none of %s", r.environ[name], strings.Join(known, ", "))
	}
	return value
}

// millis returns a setting in milliseconds.
func (r *reader) millis(name string, fallback time.Duration) time.Duration {
	const most = int(time.Hour / time.Millisecond)
	return time.Duration(r.count(name, int(fallback/time.Millisecond), most)) * time.Millisecond
}

// count returns a whole number from 1 to most.
func (r *reader) count(name string, fallback, most int) int {
	value := r.environ[name]
	if value == "" {
		return fallback
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > most {
		r.fail(name, "%q is not a whole number from 1 to %d", value, most)
	}
	return n
}

// pairs returns a list "key=value,key=value". Values are percent-encoded.
func (r *reader) pairs(name string) map[string]string {
	pairs := map[string]string{}
	for part := range strings.SplitSeq(r.environ[name], ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		key, value, found := strings.Cut(part, "=")
		decoded, err := url.PathUnescape(strings.TrimSpace(value))
		if key = strings.TrimSpace(key); !found || err != nil || key == "" {
			r.fail(name, "is not a list of key=value with commas between, and percent-encoded values") // a header may be a secret
		}
		pairs[key] = decoded
	}
	return pairs
}

func (r *reader) headers() map[string]string {
	name := r.otlpName("HEADERS")
	headers := r.pairs(name)
	for key, value := range headers {
		if !validHeader(key) || strings.ContainsAny(value, "\r\n") {
			r.fail(name, "has a name or a value that no HTTP header can have")
		}
	}
	return headers
}

// validHeader reports whether the text is a token, as names of headers are.
func validHeader(name string) bool {
	return !strings.ContainsFunc(name, func(c rune) bool {
		return c <= ' ' || c >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c)
	})
}

// roots returns the certificate authorities of the file that the setting CERTIFICATE names, or nil if none is named.
func (r *reader) roots() *x509.CertPool {
	name, file := r.otlp("CERTIFICATE")
	if file == "" {
		return nil
	}
	pem, err := os.ReadFile(file)
	pool := x509.NewCertPool()
	switch {
	case err != nil:
		r.fail(name, "%v", err)
	case !pool.AppendCertsFromPEM(pem):
		r.fail(name, "%s has no certificate (PEM)", file)
	}
	return pool
}

// sampler returns the sampler, which decides which traces are recorded. The default is all traces, except those that the client
// has begun and does not record.
func (r *reader) sampler() sdk.Sampler {
	const name = "OTEL_TRACES_SAMPLER"
	word := r.word(name, "parentbased_always_on", "always_on", "always_off", "traceidratio", "parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio")
	own := sdk.AlwaysSample()
	switch {
	case strings.HasSuffix(word, "always_off"):
		own = sdk.NeverSample()
	case strings.HasSuffix(word, "traceidratio"):
		own = sdk.TraceIDRatioBased(r.ratio(name + "_ARG"))
	}
	if strings.HasPrefix(word, "parentbased_") {
		return sdk.ParentBased(own)
	}
	return own
}

func (r *reader) ratio(name string) float64 {
	value := r.environ[name]
	if value == "" {
		return 1
	}
	part, err := strconv.ParseFloat(value, 64)
	if err != nil || !(part >= 0 && part <= 1) {
		r.fail(name, "%q is not a number from 0 to 1", value)
		return 0
	}
	return part
}
