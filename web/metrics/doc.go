// Package metrics shows the figures of one instance to Prometheus.
//
// It owns the names, labels and help texts of all metrics of hongbao, which All lists for the reference page, the alerts and the dashboard.
// It must always hold: a scrape reads counters that other packages keep, and calls no engine. So a scrape slows no grab, and is
// answered also while an engine does not answer.
package metrics
