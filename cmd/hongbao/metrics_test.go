package main

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"hongbao/redpacket"
	"hongbao/store"
	"hongbao/store/enginetest"
	"hongbao/store/eventlog"
	"hongbao/store/storetest"
	"hongbao/web/ops/metrics"
)

// scrape wires an instance over the engines, runs it until it has taken a sample, and returns its metrics.
func scrape(t *testing.T, c store.Config) string {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	engines, err := store.Open(t.Context(), c, log)
	noError(t, err)
	t.Cleanup(func() { noError(t, engines.Close()) })
	kinds, err := eventlog.ParseKinds([]string{"*"})
	noError(t, err)
	noError(t, engines.Events.PutConsumer(t.Context(), eventlog.Consumer{Name: "search"}))
	webhook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(webhook.Close)
	settings := config{WebhookURL: webhook.URL, WebhookSecrets: "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz", WebhookAllow: names{"127.0.0.1"},
		Events: eventKinds{Kinds: kinds}, EventsKeep: time.Hour, EventsMost: 1000,
		DataDir: c.DataDir, DatabaseURL: c.DatabaseURL, RedisURL: c.RedisURL, Guests: guestsOff, JWTSecret: strings.Repeat("s", 32),
		HookURL: "https://shop.example.com/", HookSecrets: "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz", Hooks: names{"grab"}, HookTimeout: time.Second,
		MaxPacketTotal: 1000, MaxPacketCount: 10, Currency: currency{Code: "CNY", Exponent: 2}}
	made, err := wireUp(t.Context(), settings, "node", engines, log)
	noError(t, err)
	_, _, err = made.packets.Adjust(t.Context(), redpacket.AdjustRequest{User: "ann", Amount: 5, Key: "welcome"})
	noError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for _, run := range []func(context.Context) error{made.hub.Run, made.packets.Run, made.server.Run} {
		running.Go(func() { _ = run(ctx) })
	}
	running.Go(func() { made.events.Run(ctx) })
	if made.files != nil {
		running.Go(func() { made.files.Run(ctx) })
	}
	defer running.Wait()
	defer cancel()
	made.server.Handler().ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/v1/commands/grab", strings.NewReader("{}")))
	for began := time.Now(); ; <-time.After(10 * time.Millisecond) {
		w := httptest.NewRecorder()
		made.server.OpsHandler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/metrics", nil))
		text := w.Body.String()
		if strings.Contains(text, "\nhongbao_outbox_claims 0\n") && strings.Contains(text, "\nhongbao_chain_head_hash{") &&
			strings.Contains(text, "\nhongbao_events_lag_seconds{") && (made.files == nil || strings.Contains(text, "\nhongbao_files_held 0\n")) {
			return text
		}
		if time.Since(began) > time.Minute {
			t.Fatalf("no sample in the metrics:\n%s", text)
		}
	}
}

// wantMetrics fails the test unless the scrape has all metrics of the reference page but these, and no others of ours.
func wantMetrics(t *testing.T, scraped string, but ...string) {
	t.Helper()
	known := map[string]bool{}
	for _, m := range metrics.All() {
		known[m.Name] = true
		if found := strings.Contains(scraped, "# TYPE "+m.Name+" "+m.Kind+"\n"); !found && !strings.Contains(strings.Join(but, " ")+" ", m.Name+" ") {
			t.Errorf("the scrape has no %s %s", m.Kind, m.Name)
		}
	}
	for line := range strings.Lines(scraped) {
		if name, found := strings.CutPrefix(line, "# TYPE hongbao_"); found {
			if name, _, _ = strings.Cut("hongbao_"+name, " "); !known[name] {
				t.Errorf("the scrape has %s, which the reference page lacks", name)
			}
		}
	}
}

// needEvents are the metrics of events that the test does not cause.
var needEvents = []string{"hongbao_closes_total", "hongbao_hook_seconds", "hongbao_security_total"}

// ofFiles are the metrics that a server without files lacks.
var ofFiles = []string{
	"hongbao_file_uploads_total", "hongbao_file_downloads_total", "hongbao_file_received_bytes_total", "hongbao_file_sent_bytes_total", "hongbao_file_bytes",
	"hongbao_file_bytes_max", "hongbao_files_held", "hongbao_files_dropped", "hongbao_file_sweep_failures_total", "hongbao_object_seconds",
	"hongbao_object_failures_total",
}

func TestMetricsOfAnEmbeddedInstance(t *testing.T) {
	scraped := scrape(t, store.Config{DataDir: t.TempDir()})
	wantMetrics(t, scraped, append([]string{
		"hongbao_bus_peers", "hongbao_bus_queued_messages", "hongbao_bus_queued_bytes", "hongbao_bus_dropped_total", "hongbao_clock_difference_seconds",
	}, needEvents...)...)
	for _, want := range []string{
		`hongbao_build_info{commit="`, `hongbao_batch_size_bucket{engine="sqlite",work="commits",le="1"}`, `hongbao_command_seconds_count{code="101",method="grab"} 1`,
		`hongbao_file_uploads_total{outcome="begun"} 0`, `hongbao_object_failures_total{operation="put"} 0`,
	} {
		if !strings.Contains(scraped, want) {
			t.Errorf("the scrape has no %s:\n%s", want, scraped)
		}
	}
}

func TestMetricsOfAScaledInstance(t *testing.T) {
	scraped := scrape(t, store.Config{DatabaseURL: newDatabase(t, storetest.Postgres(t)), RedisURL: storetest.Redis(t).URL()})
	wantMetrics(t, scraped, append(ofFiles, needEvents...)...)
	for _, want := range []string{
		`hongbao_pool_connections_max{engine="postgres",use="all"} 16`, `hongbao_pool_connections{engine="redis",state="idle",use="grabs"}`,
		`hongbao_batch_seconds_count{engine="postgres",work="single"} `, `hongbao_work_waiting{engine="redis",work="grabs"} 0`,
	} {
		if !strings.Contains(scraped, want) {
			t.Errorf("the scrape has no %s:\n%s", want, scraped)
		}
	}
	promtool := enginetest.Program(t, "promtool")
	check := exec.CommandContext(t.Context(), promtool, "check", "metrics")
	check.Stdin = bytes.NewBufferString(scraped)
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
}
