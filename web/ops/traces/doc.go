// Package traces sends the spans that package redpacket/trace records to a collector, by OTLP over HTTP.
//
// It owns the settings OTEL_…, the sampler, the queue of spans and the exporter. It must always hold:
//
//   - Spans that the collector does not take in time are dropped, and delay no command.
//   - Without settings, no tracer is set.
package traces
