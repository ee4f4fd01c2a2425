// Package trace records the path of a command as spans of OpenTelemetry: through socket or HTTP request, pool, ledger,
// broadcast and other instances.
//
// It owns the tracer of the process, and the form in which the bus carries the name of a span. The packages redpacket, web,
// web/user/session, web/user/push, store/pgstore/internal/batch and the pool of Redis call it. The hub only carries the name. Package trace imports only
// the API of OpenTelemetry; package web/ops/traces sets the tracer and exports the spans. It must always hold: without a tracer, no
// function allocates, locks or looks into a context.
package trace
