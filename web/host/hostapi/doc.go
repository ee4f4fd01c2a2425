// Package hostapi holds the payloads and the table of the server API: what a host's back end may ask of the server, on a
// listener of its own. The documents and the routes are derived from the table. It also holds the payloads of the events that
// the host receives, and of the questions that the host is asked before commands (hooks).
//
// It must always hold: fields are only added, and a field that is added to a request is optional.
package hostapi
