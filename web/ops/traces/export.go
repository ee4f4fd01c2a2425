package traces

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"hongbao/redpacket/trace"
)

// stopTime bounds how long the last spans may take when the process ends.
const stopTime = time.Second

// Start sets the tracer of the process, which sends spans as the settings say. The spans carry the name of the instance and its
// version. stop removes the tracer and sends the spans that still wait, for at most a second. If the settings send no spans
// (Settings.On), Start does nothing.
func Start(s Settings, instance, version string, log *slog.Logger) (stop func()) {
	if !s.On() {
		return func() {}
	}
	// uploader takes the place of OpenTelemetry's own exporter over HTTP. That one links gRPC, which makes the program 5.6 MB
	// larger (go build -ldflags '-s -w', 2026-11-24).
	exporter := otlptrace.NewUnstarted(newUploader(s))
	otel.SetErrorHandler(&failures{log: log, endpoint: s.Endpoint()})
	attributes := append([]attribute.KeyValue{attribute.String("service.instance.id", instance), attribute.String("service.version", version)}, s.attributes...)
	provider := sdk.NewTracerProvider(
		sdk.WithBatcher(exporter, sdk.WithMaxQueueSize(s.queue), sdk.WithMaxExportBatchSize(min(s.batch, s.queue)), sdk.WithBatchTimeout(s.delay), sdk.WithExportTimeout(s.export)),
		sdk.WithSampler(s.sampler),
		sdk.WithResource(resource.NewSchemaless(attributes...)),
	)
	trace.Use(provider.Tracer("hongbao"))
	return func() {
		trace.Use(nil)
		ctx, cancel := context.WithTimeout(context.Background(), stopTime)
		defer cancel()
		if err := provider.Shutdown(ctx); err != nil {
			otel.Handle(err)
		}
	}
}

// failures logs that spans are lost, at most once a minute.
type failures struct {
	log      *slog.Logger
	endpoint string
	last     atomic.Int64 // time of the last log line, in Unix nanoseconds; 0: there was none
}

// failuresEvery is the pause between two log lines of failures.
const failuresEvery = time.Minute

// Handle implements otel.ErrorHandler. It logs at most one error every failuresEvery.
func (f *failures) Handle(err error) {
	last, now := f.last.Load(), time.Now().UnixNano()
	if last != 0 && now-last < int64(failuresEvery) || !f.last.CompareAndSwap(last, now) {
		return
	}
	f.log.Warn("traces are lost; nothing else is affected", "endpoint", f.endpoint, "err", err)
}

// uploader sends spans to a collector by OTLP over HTTP. It implements otlptrace.Client.
type uploader struct {
	settings Settings
	client   *http.Client
}

func newUploader(s Settings) *uploader {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: s.roots}
	return &uploader{settings: s, client: &http.Client{Transport: transport, Timeout: s.timeout}}
}

// Start implements otlptrace.Client.
func (u *uploader) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (u *uploader) Stop(context.Context) error {
	u.client.CloseIdleConnections()
	return nil
}

// UploadTraces implements otlptrace.Client. Spans that the collector does not take are lost: another try would need a second
// queue.
func (u *uploader) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans}) // the same bytes as an ExportTraceServiceRequest
	if err != nil {
		return err
	}
	if u.settings.compress {
		var zipped bytes.Buffer
		w := gzip.NewWriter(&zipped)
		_, _ = w.Write(body) // a bytes.Buffer never fails
		_ = w.Close()
		body = zipped.Bytes()
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, u.settings.endpoint, bytes.NewReader(body))
	if err != nil {
		return err
	}
	for name, value := range u.settings.headers {
		request.Header.Set(name, value)
	}
	request.Header.Set("Content-Type", "application/x-protobuf")
	if u.settings.compress {
		request.Header.Set("Content-Encoding", "gzip")
	}
	response, err := u.client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	answer, _ := io.ReadAll(io.LimitReader(response.Body, 512)) // read, so that the connection is used again
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("the collector answers %s: %.200q", response.Status, answer)
	}
	return nil
}
