// Package metrics shows the figures of one instance to Prometheus.
//
// It owns the names, labels and help texts of all metrics whose names begin with hongbao_. All lists them for the reference page, the
// alerts and the dashboard. A scrape also has the usual metrics of a Go process.
// It must always hold: a scrape reads counters that other packages keep, and sends no request to SQL or Redis. So a scrape slows no grab, and is
// answered also while an engine does not answer.
package metrics
