// Package trace records the way of a command as spans of OpenTelemetry: through socket, pool, ledger, broadcast and other instances.
//
// It owns the tracer of the process, and the form in which a span is named on the bus. The packages redpacket, web, web/session, web/push, store/pgstore and the
// pool of Redis call it; the hub only carries the name. It knows only the API of OpenTelemetry;
// package web/traces sets the tracer and exports the spans. It must always hold: without a tracer, no function allocates, locks or
// looks into a context.
package trace
